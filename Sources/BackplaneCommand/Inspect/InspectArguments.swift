#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a library's metadata and whether a host would load it.",
            discussion: """
                The library's identity is read without running it; its components are read by loading it in a separate \
                process. The exit code is 1 if a host would not load it.

                EXAMPLES
                  backplane inspect .build/debug/libClock.so
                  backplane inspect Bookshelf --json
                  backplane inspect Bookshelf --manifest manifests/bookshelf.json
                """)

        @OptionGroup var arguments: LibraryArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            let command = InspectCommand(
                library: arguments.library, manifest: arguments.manifest, loadFolder: arguments.loadFolder,
                limit: arguments.limit, json: json)
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
