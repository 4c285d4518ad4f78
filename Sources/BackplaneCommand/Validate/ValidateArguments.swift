#if Engines
import ArgumentParser
import BackplaneValidate

extension BackplaneTool {
    /// The arguments that `validate` shares with its child process.
    struct ValidationArguments: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The folder the library is copied to before it is loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
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
            abstract: "Check a plugin against the rules of the boundary.",
            discussion: """
                The rules are numbered requirements, which docs/validate.md explains. Each check runs in a separate \
                process, so that a crash or a hang is reported as a finding. The plugin's components are created, \
                called with invalid JSON, cancelled and stopped, with none of their wires connected. The exit code is \
                1 if the plugin violates a requirement.

                EXAMPLES
                  backplane validate .build/debug/libClock.so
                  backplane validate Bookshelf --timeout 30 --json
                """)

        @Argument(help: "The library: its path, or its name as a manifest gives it.") var library: String
        @OptionGroup var validation: ValidationArguments
        @Flag(help: "Print the report as JSON.") var json = false

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
