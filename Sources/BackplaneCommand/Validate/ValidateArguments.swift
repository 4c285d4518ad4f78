#if Engines
import ArgumentParser
import BackplaneValidate

extension BackplaneTool {
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

        @OptionGroup var arguments: LibraryArguments
        @Flag(help: "Print everything as JSON.") var json = false

        func run() async throws {
            let command = ValidateCommand(
                library: arguments.library, loadFolder: arguments.loadFolder, limit: arguments.limit, json: json)
            throw ExitCode(await command.run())
        }
    }

    /// The child process of ``Validate``.
    struct ValidateChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: ValidationChild.command, shouldDisplay: false)

        @Argument var trial: String
        @OptionGroup var arguments: LibraryArguments

        func run() async throws {
            guard let trial = Trial(rawValue: trial) else { throw ValidationError("there is no such trial") }
            await ValidationChild.run(trial, arguments.library, loadFolder: arguments.loadFolder)
        }
    }
}
#endif
