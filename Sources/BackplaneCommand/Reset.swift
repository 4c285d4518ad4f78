import ArgumentParser
import BackplaneControl
import BackplaneHost

extension BackplaneTool {
    struct Reset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset",
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

        func run() throws {
            let code = try host.choice.ask(
                ResetRequest(manager: name), doing: "recreating it",
                interrupted: "this command ends, and the host continues to recreate it"
            ) { change, _ in
                change.print(json: json)
            }
            throw ExitCode(code)
        }
    }
}
