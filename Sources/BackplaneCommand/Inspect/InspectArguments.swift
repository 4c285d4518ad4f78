#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says what a library is and brings, and whether a host would load it.",
            discussion: """
                Its identity is read without running it; what components it brings it says when it is loaded, in a process of its own. \
                Exit code 1 when a host would not load it.

                EXAMPLES
                  backplane inspect .build/debug/libClock.so
                  backplane inspect Bookshelf --json
                """)

        @OptionGroup var arguments: LibraryArguments
        @Flag(help: "Print everything as JSON.") var json = false

        func run() async throws {
            let command = InspectCommand(
                library: arguments.library, loadFolder: arguments.loadFolder, limit: arguments.limit, json: json)
            throw ExitCode(await command.run())
        }
    }

    /// The child process of ``Inspect``.
    struct InspectChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: InspectionChild.command, shouldDisplay: false)

        @OptionGroup var arguments: LibraryArguments

        func run() async throws {
            InspectionChild.run(arguments.library, loadFolder: arguments.loadFolder)
        }
    }
}
#endif
