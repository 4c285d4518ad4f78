import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTools
import Glibc
import Synchronization

extension BackplaneTool {
    struct Credentials: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "credentials", abstract: "List credentials, and sign their accounts in and out.",
            discussion: """
                Works on the accounts of a running host or, without --running and --socket, on the tokens that a \
                manifest's credentials store in its data folder.

                EXAMPLES
                  backplane credentials list backplane.json
                  backplane credentials sign-in library --value reader=ann --running
                  backplane credentials sign-in library --value-fd password=0 --running < password
                  backplane credentials sign-out library --account ann --running
                """,
            subcommands: [List.self, SignIn.self, SignOut.self])
    }
}

/// The options that choose the host, or the manifest, of the credentials.
struct CredentialChoiceArguments: ParsableArguments {
    @OptionGroup var running: RunningArguments
    @Option(
        help: ArgumentHelp(
            "The environment of the manifest to use (default: $BACKPLANE_ENVIRONMENT, or none).", valueName: "name"))
    var environment: String?
    @Option(
        help: ArgumentHelp(
            "The folder in which hosts store their data (default: $XDG_STATE_HOME/backplane).", valueName: "folder"))
    var data: String?

    /// A function that answers requests as a host does.
    typealias Ask = (CredentialsRequest) async throws -> CredentialsRequest.Answer

    /// Runs a command with the accounts of the running host or with the manifest's stored tokens, and returns the exit
    /// code.
    ///
    /// - Parameters:
    ///   - manifest: The manifest that precedes the other arguments.
    ///   - work: The command; `isRunning` indicates whether a running host answers.
    func asking(
        _ manifest: String? = nil, _ work: @escaping @Sendable (_ ask: Ask, _ isRunning: Bool) async throws -> Void
    ) async throws -> Int32 {
        let settings = HostSettings(environment: environment, data: data, log: LogSettings())
        let choice = try running.choice(manifest, settings)
        let signals: StopSignals
        do { signals = try StopSignals() } catch { return Output.fail(error) }
        let interruption = Task {
            guard await signals.next() != nil else { return }
            SecretTerminal.restore()
            _exit(130)
        }
        defer { interruption.cancel() }
        if let choice = choice.host {
            let host: RunningHost
            do { host = try choice.host(here: ManifestChoice.here) } catch { return error.report() }
            return await Self.ending { try await work({ try host.client.ask($0) }, true) }
        }
        let host = choice.settings.makeHost()
        let code = await Self.ending { try await work({ try await $0.answer(through: host.network) }, false) }
        await host.stop()
        return code
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

extension BackplaneTool.Credentials {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the credentials with their hosts, accounts and the names of their sign-in values.",
            discussion: "Nothing is started, and no secret is shown.")

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var choice: CredentialChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            let code = try await choice.asking(manifest.path) { ask, _ in
                let credentials = try await ask(CredentialsRequest(.list)).credentials ?? []
                if json { return Output.json(credentials) }
                guard !credentials.isEmpty else {
                    Output.remark("backplane: the manifest has no credentials")
                    return
                }
                Output.table(CredentialTable.table(credentials))
            }
            throw ExitCode(code)
        }
    }

    struct SignIn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-in", abstract: "Sign in an account of a credential.",
            discussion: """
                Missing values are prompted for on the terminal, without echo. Other users can see the arguments of \
                a command, so pass a password with --value-fd, which reads the first line.
                """)

        @Argument(help: "The credential's name in the manifest.") var name: String
        @Option(help: ArgumentHelp("The account's name (default: the unnamed account).", valueName: "name"))
        var account: String?
        @Option(
            parsing: .singleValue,
            help: ArgumentHelp("A sign-in value, NAME=TEXT; can be repeated.", valueName: "value"))
        var value: [String] = []
        @Option(
            name: .customLong("value-fd"), parsing: .singleValue,
            help: ArgumentHelp(
                "A sign-in value to read from a file descriptor, NAME=NUMBER; can be repeated.", valueName: "value"))
        var descriptors: [String] = []
        @OptionGroup var choice: CredentialChoiceArguments

        func validate() throws { _ = try values }

        private var values: SignInValues { get throws { try SignInValues(texts: value, descriptors: descriptors) } }

        func run() async throws {
            let given = try values
            let code = try await choice.asking { ask, isRunning in
                let credentials = try await ask(CredentialsRequest(.list)).credentials ?? []
                // If there is no credential of this name, the answer to the sign-in lists the existing ones.
                let credential = credentials.first { $0.name == name }
                if !isRunning, let credential, !credential.keepsTokens {
                    throw BackplaneError(
                        .networkCredential,
                        "the credential `\(name)` stores no tokens, so an account can be signed in only in a running host; add --running"
                    )
                }
                let values = try given.all(needed: credential?.values ?? [])
                let answer = try await ask(
                    CredentialsRequest(.signIn, credential: name, account: account, values: values))
                Output.line(answer.principal ?? "")
            }
            throw ExitCode(code)
        }
    }

    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out", abstract: "Sign out an account of a credential, and remove its stored token.",
            discussion: "An account that is not signed in is ignored.")

        @Argument(help: "The credential's name in the manifest.") var name: String
        @Option(help: ArgumentHelp("The account's name (default: the unnamed account).", valueName: "name"))
        var account: String?
        @OptionGroup var choice: CredentialChoiceArguments

        func run() async throws {
            let code = try await choice.asking { ask, _ in
                _ = try await ask(CredentialsRequest(.signOut, credential: name, account: account))
            }
            throw ExitCode(code)
        }
    }
}

/// The table of credentials, with one row for each account, or for a credential without accounts.
enum CredentialTable {
    static func table(_ credentials: [CredentialStatus]) -> Table {
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
                        Span(account.isKept ? "kept" : "signed in"), Span(account.principal),
                    ]
                }
            })
    }
}

/// The values of a sign-in as entered: texts, and file descriptors to read values from.
struct SignInValues: Sendable {
    private var texts: [String: String] = [:]
    /// The descriptors, in the order in which they are read.
    private var descriptors: [(name: String, number: Int32)] = []

    /// Parses `NAME=TEXT` and `NAME=NUMBER` arguments.
    init(texts: [String], descriptors: [String]) throws {
        for text in texts {
            let (name, value) = try Self.pair(text, of: "--value", expected: "NAME=TEXT")
            guard self.texts.updateValue(value, forKey: name) == nil else { throw Self.repeated(name) }
        }
        for text in descriptors {
            let (name, value) = try Self.pair(text, of: "--value-fd", expected: "NAME=NUMBER")
            guard let number = Int32(value), number >= 0 else {
                throw ValidationError("--value-fd: expected NAME=NUMBER, the number of a file descriptor")
            }
            guard self.texts[name] == nil else {
                throw ValidationError("--value and --value-fd both set `\(name)`; use only one of them")
            }
            guard !self.descriptors.contains(where: { $0.name == name }) else { throw Self.repeated(name) }
            self.descriptors.append((name, number))
        }
    }

    private static func repeated(_ name: String) -> ValidationError {
        ValidationError("the value `\(name)` is given twice; give it once")
    }

    private static func pair(
        _ text: String, of option: String, expected: String
    ) throws -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw ValidationError("\(option): expected \(expected)")
        }
        return (String(parts[0]), String(parts[1]))
    }

    /// Returns the values, including values from descriptors, and prompts for missing ones.
    ///
    /// - Throws: `network.sign-in` if a descriptor cannot be read, or there is no terminal for prompts.
    func all(needed names: [String]) throws(BackplaneError) -> [String: String] {
        var values = texts
        for (name, descriptor) in descriptors {
            guard let line = SecretTerminal.line(from: descriptor) else {
                throw BackplaneError(
                    .networkSignIn, "the value `\(name)` cannot be read from the file descriptor \(descriptor)")
            }
            values[name] = line
        }
        let missing = names.filter { values[$0] == nil }
        guard !missing.isEmpty else { return values }
        guard let terminal = SecretTerminal() else {
            let list = missing.map { "`\($0)`" }.joined(separator: ", ")
            throw BackplaneError(
                .networkSignIn,
                "the sign-in requires the values \(list), and there is no terminal to prompt for them; pass them "
                    + "with --value or --value-fd"
            )
        }
        for name in missing {
            guard let line = terminal.ask("\(name): ") else {
                throw BackplaneError(.networkSignIn, "the value `\(name)` was not entered")
            }
            values[name] = line
        }
        return values
    }
}

/// The terminal of this process, from which lines are read without echo.
///
/// The echo is restored when the line is complete, and when a signal ends the process.
struct SecretTerminal: Sendable {
    // Global, because a process has one terminal, and the echo must be restored when the process ends.
    private static let silenced = Mutex<(descriptor: Int32, before: termios)?>(nil)
    private let descriptor: Int32

    /// Opens the terminal; `nil` if the process has none.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
    }

    /// Shows a prompt and reads a line, without its end; `nil` if the terminal is closed first.
    func ask(_ prompt: String) -> String? {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        Self.silenced.withLock { [before, descriptor] in $0 = (descriptor, before) }
        defer {
            Self.restore()
            Output.write("\n", to: descriptor)
        }
        Output.write(prompt, to: descriptor)
        return Self.line(from: descriptor)
    }

    /// Restores the echo if it is switched off.
    static func restore() {
        silenced.withLock { silenced in
            guard let (descriptor, before) = silenced.take() else { return }
            var attributes = before
            tcsetattr(descriptor, TCSAFLUSH, &attributes)
        }
    }

    /// Reads up to the end of a line or of the input; returns `nil` if the line cannot be read, is too long, or is not
    /// UTF-8.
    ///
    /// Reading byte by byte leaves the following lines to the next reader.
    static func line(from descriptor: Int32) -> String? {
        var line: [UInt8] = [], byte: UInt8 = 0
        while line.count <= 64 << 10 {
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 || byte == UInt8(ascii: "\n") {
                if count == 0, line.isEmpty { return nil }
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(validating: line, as: UTF8.self)
            }
            line.append(byte)
        }
        return nil
    }
}
