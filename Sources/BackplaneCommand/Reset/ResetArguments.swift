#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a manager of a running host anew, or everything that is up.",
            discussion: """
                With it the layers that only it uses. Calls that come meanwhile wait.

                EXAMPLES
                  backplane reset AlmanacManager
                  backplane reset --manifest manifests/almanac.json
                """)

        @Argument(help: "The manager's name in the manifest (default: all that are up).") var name: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print what changed as JSON.") var json = false

        func run() async throws {
            throw ExitCode(ResetCommand(manager: name, host: try host.choice, json: json).run())
        }
    }
}
#endif
