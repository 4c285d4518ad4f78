import Backplane
import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The sender of a request: the authenticator of one of a credential's accounts, and its principal.
struct CredentialAccount: Sendable {
    /// The opaque number of a credential, account and sign-in, which is never reused.
    ///
    /// It is random, so that data stored for one principal does not belong to another after a restart.
    let principal: UInt64
    let authenticator: any Authenticator
    let jar: CookieJar?

    static var newPrincipal: UInt64 { .random(in: 1 ... .max) }
}

final class CredentialAccounts: Sendable {
    static let most = 10_000
    static let mostNameBytes = 1_024, mostValueBytes = 16 << 10

    let name: String
    let definition: Credential
    private let kept: KeptTokens?
    private let find: SchemeAuthenticator.Find?
    private let date: @Sendable () -> Date
    private let signIns: SignInObserver
    private let accounts = Mutex<[String: CredentialAccount]>([:])

    init(
        _ name: String, _ definition: Credential, _ kept: KeptTokens?, _ find: SchemeAuthenticator.Find?,
        date: @escaping @Sendable () -> Date, signIns: SignInObserver
    ) {
        (self.find, self.signIns) = (find, signIns)
        (self.name, self.definition, self.kept, self.date) = (name, definition, kept, date)
    }

    func account(_ account: String) throws(BackplaneError) -> CredentialAccount {
        try accounts.withLock { accounts throws(BackplaneError) in
            if let known = accounts[account] { return known }
            guard let made = try make(account, account.isEmpty ? [:] : nil) else {
                throw refused(
                    account.isEmpty
                        ? "has no account of its own; choose one with `account`, and sign it in first"
                        : "has no signed-in account `\(account.printable)`; call `signIn` first")
            }
            accounts[account] = made
            return made
        }
    }

    func signIn(
        _ account: String, with values: [String: Secret], over network: HTTPPipeline
    ) async throws -> UInt64 {
        guard account.utf8.count <= Self.mostNameBytes, BasicField.hasNoControls(account) else {
            throw refused("cannot have an account of this name; use at most \(Self.mostNameBytes) bytes of text")
        }
        if let long = values.first(where: { $0.value.revealed.utf8.count > Self.mostValueBytes }) {
            throw refused("cannot have a `\(long.key.printable)` of more than \(Self.mostValueBytes >> 10) KB")
        }
        let made: CredentialAccount
        var signedIn: (token: BearerToken, keeping: KeptTokens?)?
        if case .bearer(let source) = definition.scheme {
            guard let signIn = source.signIn else { throw refused("has a fixed token, and no accounts") }
            let keeping = try requireKept(source)
            let unknown = Set(values.keys).subtracting(signIn.names)
            guard unknown.isEmpty else { throw refusedValues(unknown, signIn.names) }
            let token = try await BearerAuthenticator.ask(signIn, values, source, date, over: network)
            made = bearer(account, source, CredentialAccount.newPrincipal, token, keeping)
            signedIn = (token, keeping)
        } else {
            if !definition.scheme.takesAnyValues {
                let unknown = Set(values.keys).subtracting(["user", "password"])
                guard unknown.isEmpty else { throw refusedValues(unknown, ["user", "password"]) }
            }
            guard let login = try make(account, values) else { throw refused("needs the values `user` and `password`") }
            made = login
        }
        let old = try accounts.withLock { accounts throws(BackplaneError) in
            guard accounts[account] != nil || accounts.count < Self.most else {
                throw refused("has \(Self.most) signed-in accounts, which is the limit; sign some out")
            }
            let old = accounts.updateValue(made, forKey: account)
            // From here on, the old account cannot store a token; under the lock, no other sign-in stores one either.
            (old?.authenticator as? BearerAuthenticator)?.close()
            guard let (token, keeping) = signedIn else { return old }
            do throws(BackplaneError) {
                try keeping?.keep(.init(principal: made.principal, token: token), of: account, name, definition)
            } catch {
                accounts[account] = nil  // the next exchange uses what is stored
                throw error
            }
            return old
        }
        withExtendedLifetime(old) {}  // it is released outside of the lock
        signIns.tell(name, account)
        return made.principal
    }

    func signOut(_ account: String) throws(BackplaneError) {
        let old = try accounts.withLock { accounts throws(BackplaneError) in
            let old = accounts.removeValue(forKey: account)
            (old?.authenticator as? BearerAuthenticator)?.close()
            // Under the lock, because a request would sign the account in again with the stored token.
            if case .bearer(let source) = definition.scheme, source.isKept { try kept?.remove(account, name) }
            return old
        }
        withExtendedLifetime(old) {}  // it is released outside of the lock
    }

    /// Creates an account from local data, without a request; returns `nil` if the data is not sufficient.
    private func make(_ account: String, _ values: [String: Secret]?) throws(BackplaneError) -> CredentialAccount? {
        let principal = account.isEmpty ? ownPrincipal : CredentialAccount.newPrincipal
        switch definition.scheme {
        case .basic(let login, let isPreemptive):
            guard let (user, password) = try self.login(login, values) else { return nil }
            let authenticator = BasicAuthenticator(user: user, password: password, isPreemptive: isPreemptive)
            return CredentialAccount(principal: principal, authenticator: authenticator, jar: jar)
        case .digest(let login):
            guard let (user, password) = try self.login(login, values) else { return nil }
            return CredentialAccount(
                principal: principal, authenticator: DigestAuthenticator(user: user, password: password), jar: jar)
        case .bearer(let source):
            if let secret = source.secret {
                return values.map { _ in bearer(account, source, principal, BearerToken(secret), nil) }
            }
            let keeping = try requireKept(source)
            if let entry = try keeping?.entry(of: account, name, definition) {
                return bearer(account, source, entry.principal, entry.token, keeping)
            }
            guard account.isEmpty, source.function != nil || source.signIn?.names.isEmpty == true else { return nil }
            return bearer(account, source, principal, nil, keeping)
        case .custom(let scheme):
            guard let values else { return nil }
            return try made(.init(name: account, principal: principal, values: values)) { try scheme.make($0) }
        case .component(let manager, let own):
            guard let values else { return nil }
            guard let find else {
                throw BackplaneError(
                    .networkUnsupported,
                    "the credential `\(name)` needs the manager `\(manager)`, and only a host has managers; nothing was sent"
                )
            }
            let account = AuthenticationScheme.Account(
                name: account, principal: principal, values: own.merging(values) { $1 })
            return try made(account) { SchemeAuthenticator(manager, $0) { try await find(manager, $0) } }
        }
    }

    /// The principal of the account that needs no sign-in.
    ///
    /// The number for a fixed login or token is the same after a restart, so that stored responses are found again.
    private var ownPrincipal: UInt64 {
        let secrets: [Secret?]
        switch definition.scheme {
        case .basic(let login, _), .digest(let login): secrets = [login.user, login.password]
        case .bearer(let source): secrets = [source.secret]
        case .custom, .component: secrets = []
        }
        let known = secrets.compactMap { $0?.revealed }
        guard !known.isEmpty else { return CredentialAccount.newPrincipal }
        let text = ([name, definition.scheme.description] + known).joined(separator: "\0")
        let digest = ContentDigest.sha256(of: Array(text.utf8))
        return max(1, digest.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    private func made(
        _ account: AuthenticationScheme.Account,
        _ make: (AuthenticationScheme.Account) throws -> any Authenticator
    ) throws(BackplaneError) -> CredentialAccount {
        do {
            return CredentialAccount(principal: account.principal, authenticator: try make(account), jar: jar)
        } catch {
            throw BackplaneError(
                .networkSignIn, "the credential `\(name)` has no authenticator",
                causes: [BackplaneError(thrown: error)])
        }
    }

    private var jar: CookieJar? { definition.hasCookies ? CookieJar(date: date) : nil }

    private func login(
        _ login: Login, _ values: [String: Secret]?
    ) throws(BackplaneError) -> (user: String, password: Secret)? {
        guard let values, let user = values["user"] ?? login.user, let password = values["password"] ?? login.password
        else { return nil }
        guard BasicField.canBeUser(user.revealed), BasicField.hasNoControls(password.revealed) else {
            throw refused(
                "has a user name that contains a colon, or a user name or password that contains a control character")
        }
        return (user.revealed, password)
    }

    private func bearer(
        _ account: String, _ source: TokenSource, _ principal: UInt64, _ token: BearerToken?, _ keeping: KeptTokens?
    ) -> CredentialAccount {
        let authenticator = BearerAuthenticator(source, token, date: date) { [name, definition] token in
            let entry = KeptTokens.Entry(principal: principal, token: token)
            try keeping?.keep(entry, of: account, name, definition)
        }
        return CredentialAccount(principal: principal, authenticator: authenticator, jar: jar)
    }

    private func requireKept(_ source: TokenSource) throws(BackplaneError) -> KeptTokens? {
        guard source.isKept else { return nil }
        if let kept { return kept }
        throw BackplaneError(
            .networkUnsupported,
            "the credential `\(name)` stores tokens, but there is no folder for them; create the credentials with `keptIn`"
        )
    }

    private func refusedValues(_ unknown: Set<String>, _ names: Set<String>) -> BackplaneError {
        func list(_ names: Set<String>) -> String { names.sorted().map { "`\($0.printable)`" }.joined(separator: ", ") }
        return refused(
            "accepts the values \(names.isEmpty ? "none" : list(names)), not \(list(unknown))")
    }

    private func refused(_ why: String) -> BackplaneError {
        BackplaneError(.networkCredential, "the credential `\(name)` \(why)")
    }
}

extension String {
    /// The text shortened and without control characters, for use in errors.
    fileprivate var printable: String {
        String(prefix(100).map { $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? " " : $0 })
    }
}

/// The state of a credential for display: its hosts, its sign-in values and the signed-in accounts.
package struct CredentialStatus: Codable, Sendable {
    package struct Account: Codable, Sendable {
        package var name: String
        /// The principal, a 64-bit number, in decimal digits.
        package var principal: String
        /// Whether the account is only on disk, because no request has chosen it yet.
        package var isKept: Bool
    }
    package var name: String
    package var type: String
    package var hosts: [String]
    /// The managers whose components may use the credential; `nil` means all.
    package var managers: [String]?
    package var values: [String]
    package var takesAnyValues: Bool
    package var keepsTokens: Bool
    package var accounts: [Account]
}

extension Credentials {
    package var status: [CredentialStatus] {
        get throws(BackplaneError) {
            var list: [CredentialStatus] = []
            for name in names { list.append(try accounts(of: name).status) }
            return list
        }
    }
}

extension CredentialAccounts {
    fileprivate var status: CredentialStatus {
        get throws(BackplaneError) {
            let scheme = definition.scheme
            var known = accounts.withLock { $0.mapValues { (principal: $0.principal, isKept: false) } }
            if scheme.keepsTokens, let kept {
                for entry in try kept.accounts(of: name, definition) where known[entry.name] == nil {
                    known[entry.name] = (entry.principal, true)
                }
            }
            return CredentialStatus(
                name: name, type: scheme.description, hosts: definition.hosts, managers: definition.managers,
                values: scheme.signInValues.sorted(), takesAnyValues: scheme.takesAnyValues,
                keepsTokens: scheme.keepsTokens,
                accounts: known.sorted { $0.key < $1.key }.map {
                    .init(name: $0.key, principal: "\($0.value.principal)", isKept: $0.value.isKept)
                })
        }
    }
}

extension Credential.Scheme {
    fileprivate var signInValues: Set<String> {
        switch self {
        case .basic(let login, _), .digest(let login):
            var names: Set<String> = []
            if login.user == nil { names.insert("user") }
            if login.password == nil { names.insert("password") }
            return names
        case .bearer(let source): return source.signIn?.names ?? []
        case .custom, .component: return []
        }
    }

    var keepsTokens: Bool {
        if case .bearer(let source) = self { source.isKept } else { false }
    }
}

/// The function that is called after each sign-in to a vault's credentials, if one is set.
final class SignInObserver: Sendable {
    private let observer = Mutex<(@Sendable (String, String) -> Void)?>(nil)

    func set(_ observer: @escaping @Sendable (String, String) -> Void) { self.observer.withLock { $0 = observer } }

    func tell(_ credential: String, _ account: String) { observer.withLock(\.self)?(credential, account) }
}
