#if Engines
import ArgumentParser

extension BackplaneTool {
    /// The arguments of `inspect` and its child process.
    struct InspectionArguments: ParsableArguments {
        @Argument(help: "The library: its path, or its name as a manifest gives it.")
        var library: String

        @Option(
            help: ArgumentHelp(
                "The folder the library is copied to before it is loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
                valueName: "folder"))
        var loadFolder: String?

        @Option(help: ArgumentHelp("Seconds that the library may take to describe itself.", valueName: "seconds"))
        var timeout: Double = InspectCommand.defaultLimit

        func validate() throws {
            guard InspectCommand.limits.contains(timeout) else {
                throw ValidationError("--timeout: \(InspectCommand.limitsText), found \(timeout)")
            }
        }
    }

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a library's metadata and whether a host would load it.",
            discussion: """
                The library's identity is read without running it; its components are read by loading it in a separate \
                process. The exit code is 1 if a host would not load it.

                EXAMPLES
                  backplane inspect .build/debug/libClock.so
                  backplane inspect Bookshelf --json
                """)

        @OptionGroup var inspection: InspectionArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            let command = InspectCommand(
                library: inspection.library, loadFolder: inspection.loadFolder, limit: .seconds(inspection.timeout),
                json: json)
            throw ExitCode(await command.run())
        }
    }

    /// The child process of ``Inspect``.
    struct InspectChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: InspectionChild.command, shouldDisplay: false)

        @OptionGroup var inspection: InspectionArguments

        func run() async throws {
            InspectionChild.run(inspection.library, loadFolder: inspection.loadFolder)
        }
    }
}
#endif
