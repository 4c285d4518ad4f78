#if Engines
import ArgumentParser

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

    /// Returns the host or the manifest to use.
    func place(_ manifest: String? = nil) throws -> CredentialsCommand.Place {
        let settings = HostSettings(environment: environment, data: data, log: LogSettings())
        return try understood { () throws(Misuse) in
            if let manifest, running.manifest != nil {
                throw Misuse(description: "--manifest and `\(manifest)` both name a manifest; use only one of them")
            }
            let given = try settings.taking(
                manifest ?? running.manifest, running: running.running, socket: running.socket)
            return given.host.map(CredentialsCommand.Place.host) ?? .manifest(given.settings)
        }
    }
}

extension BackplaneTool.Credentials {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the credentials with their hosts, accounts and the names of their sign-in values.",
            discussion: "Nothing is started, and no secret is shown.")

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var choice: CredentialChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            throw ExitCode(await CredentialsCommand(place: try choice.place(manifest.path)).list(json: json))
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

        private var values: SignInValues {
            get throws {
                try understood { () throws(Misuse) in try SignInValues(texts: value, descriptors: descriptors) }
            }
        }

        func run() async throws {
            throw ExitCode(
                await CredentialsCommand(place: try choice.place()).signIn(name, as: account, with: try values))
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
            throw ExitCode(await CredentialsCommand(place: try choice.place()).signOut(name, account: account))
        }
    }
}
#endif
