import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Events: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "events",
            abstract: "Print the events of a running host as they happen.",
            discussion: """
                Prints a line for each start, swap, applied manifest, reset, failure and change of a lane, until the \
                host stops, --limit is reached or control-C is pressed.

                EXAMPLES
                  backplane events
                  backplane events --manifest manifests/almanac.json --json
                  backplane events --limit 1
                """)

        @OptionGroup var host: HostChoiceArguments
        @Option(help: ArgumentHelp("The number of events after which the command ends.", valueName: "count"))
        var limit: Int?
        @Flag(help: "Print each event as one line of JSON.") var json = false

        func validate() throws {
            guard limit.map({ $0 > 0 }) != false else {
                throw ValidationError("--limit: expected a number of at least 1, found \(limit ?? 0)")
            }
        }

        func run() throws {
            let code = try host.choice.converse(doing: "listening") { conversation throws(BackplaneError) in
                try conversation.follow(EventsRequest(limit: limit), of: HostEvent.self) { event, element in
                    if json { Output.line(element) } else { for line in event.lines { Output.line(line) } }
                }
            }
            throw ExitCode(code)
        }
    }
}
