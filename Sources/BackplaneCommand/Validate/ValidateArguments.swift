#if Engines
import ArgumentParser
import BackplaneValidate

extension BackplaneTool {
    /// The arguments that `validate` shares with its child process.
    struct ValidationArguments: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Where the library is copied to before it is loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
                valueName: "folder"))
        var loadFolder: String?

        @Option(
            help: ArgumentHelp("Seconds that each step, call and answer of a check may take.", valueName: "seconds"))
        var timeout: Double = InspectCommand.defaultLimit

        func validate() throws {
            guard InspectCommand.limits.contains(timeout) else {
                throw ValidationError("--timeout: \(InspectCommand.limitsText), found \(timeout)")
            }
        }
    }

    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells a plugin's author what it does that it should not.",
            discussion: """
                By numbered requirements, which docs/validate.md explains one by one. Every check is made in a process of its own, so that a \
                crash or a hang is a finding. Its components are made, called with what is no JSON, cancelled and stopped, with nothing behind \
                their wires. Exit code 1 when it does not keep to a requirement.

                EXAMPLES
                  backplane validate .build/debug/libClock.so
                  backplane validate Bookshelf --timeout 30 --json
                """)

        @Argument(help: "A library: its path, or its name as a manifest gives it.") var library: String
        @OptionGroup var validation: ValidationArguments
        @Flag(help: "Print everything as JSON.") var json = false

        func run() async throws {
            let command = ValidateCommand(
                library: library, loadFolder: validation.loadFolder, limit: .seconds(validation.timeout), json: json)
            throw ExitCode(await command.run())
        }
    }

    /// The child process of ``Validate``.
    struct ValidateChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: ValidationChild.command, shouldDisplay: false)

        @Argument var trial: String
        @Argument var library: String
        @OptionGroup var validation: ValidationArguments

        func run() async throws {
            guard let trial = Trial(rawValue: trial) else { throw ValidationError("there is no such trial") }
            await ValidationChild.run(trial, library, loadFolder: validation.loadFolder)
        }
    }
}
#endif
