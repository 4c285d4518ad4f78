import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneProcesses
import BackplaneTerminal
import Glibc

/// The command `backplane credentials`, which lists credentials and signs their accounts in and out.
struct CredentialsCommand: Sendable {
    /// The owner of the accounts.
    enum Place: Sendable {
        /// A running host.
        case host(HostChoice)
        /// The tokens that a manifest's credentials store.
        case manifest(HostSettings)
    }
    /// A function that answers requests as a host does.
    private typealias Ask = (CredentialsRequest) async throws -> CredentialsRequest.Answer

    let place: Place

    func list(json: Bool) async -> Int32 {
        await asking { ask in
            let credentials = try await ask(CredentialsRequest("list")).credentials ?? []
            if json { return Output.json(credentials) }
            guard !credentials.isEmpty else {
                Output.remark("backplane: the manifest has no credentials")
                return
            }
            Output.table(CredentialTable.table(credentials))
        }
    }

    func signIn(_ name: String, as account: String?, with given: SignInValues) async -> Int32 {
        await asking { ask in
            let credentials = try await ask(CredentialsRequest("list")).credentials ?? []
            let needed: [String]
            if let credential = credentials.first(where: { $0.name == name }) {
                try require(credential)
                needed = credential.values
            } else {
                needed = []  // the answer to the sign-in says which there are
            }
            let values = try given.all(needed: needed)
            let answer = try await ask(
                CredentialsRequest("sign-in", credential: name, account: account, values: values))
            Output.line(answer.principal ?? "")
        }
    }

    func signOut(_ name: String, account: String?) async -> Int32 {
        await asking { ask in
            _ = try await ask(CredentialsRequest("sign-out", credential: name, account: account))
        }
    }

    /// Checks that a sign-in survives this command.
    private func require(_ credential: CredentialForm) throws(BackplaneError) {
        guard case .manifest = place, !credential.keepsTokens else { return }
        throw BackplaneError(
            .networkCredential,
            "the credential `\(credential.name)` stores no tokens, so an account can be signed in only in a running host; add --running"
        )
    }

    private func asking(_ work: @escaping @Sendable (Ask) async throws -> Void) async -> Int32 {
        let signals: StopSignals
        do { signals = try StopSignals() } catch { return Output.fail(error) }
        let interruption = Task {
            guard await signals.next() != nil else { return }
            TerminalEcho.restore()
            _exit(130)
        }
        defer { interruption.cancel() }
        switch place {
        case .host(let choice):
            let host: RunningHost
            do { host = try choice.host(here: ManifestChoice.here) } catch { return error.report() }
            return await Self.ending { try await work { try host.client.ask($0) } }
        case .manifest(let settings):
            let host = settings.makeHost()
            let code = await Self.ending { try await work { try await $0.answer(through: host.network) } }
            await host.stop()
            return code
        }
    }

    private static func ending(_ work: () async throws -> Void) async -> Int32 {
        do {
            try await work()
            return 0
        } catch {
            return Output.fail(error)
        }
    }
}

/// The table of credentials, with one row for each account, or for a credential without accounts.
enum CredentialTable {
    static func table(_ credentials: [CredentialForm]) -> Table {
        Table(
            ["CREDENTIAL", "TYPE", "HOSTS", "VALUES", "ACCOUNT", "STATE", "PRINCIPAL"],
            credentials.flatMap { credential -> [[Span]] in
                let values = credential.values + (credential.takesAnyValues ? ["…"] : [])
                let own = [
                    Span(credential.name.printable), Span(credential.type.printable),
                    Span(credential.hosts.joined(separator: ", ").printable),
                    Span(values.isEmpty ? "-" : values.joined(separator: ", ").printable),
                ]
                guard !credential.accounts.isEmpty else { return [own + [Span("-"), Span("-"), Span("-")]] }
                return credential.accounts.map { account in
                    own + [
                        Span(account.name.isEmpty ? "(none)" : account.name.printable),
                        Span(account.kept ? "kept" : "signed in"), Span(account.principal),
                    ]
                }
            })
    }
}
