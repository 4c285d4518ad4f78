#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Recreate a manager of a running host, or all managers that are up.",
            discussion: """
                Collaborators that only this manager uses are recreated with it. Calls that arrive in the meantime \
                wait.

                EXAMPLES
                  backplane reset AlmanacManager
                  backplane reset --manifest manifests/almanac.json
                """)

        @Argument(help: "The manager's name in the manifest (default: all running managers).") var name: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the changes as JSON.") var json = false

        func run() async throws {
            throw ExitCode(ResetCommand(manager: name, host: try host.choice, json: json).run())
        }
    }
}
#endif
