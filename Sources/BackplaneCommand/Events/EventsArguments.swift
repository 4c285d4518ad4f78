#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
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

        func run() async throws {
            throw ExitCode(EventsCommand(host: try host.choice, limit: limit, json: json).run())
        }
    }
}
#endif
