#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show statistics on the calls, streams and timers of a running host's components.",
            discussion: """
                Counts the calls that started, those that failed, those in flight, and those that wait for a change to \
                finish, with the managers that own each component and its last error; the times of encoded calls; the \
                components' streams and their elements; the runs of their timers; and the HTTP exchanges of each plugin, \
                with the sizes of their bodies.

                EXAMPLES
                  backplane stats
                  backplane stats --manifest manifests/almanac.json --json
                """)

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            throw ExitCode(StatsCommand(host: try host.choice, json: json).run())
        }
    }
}
#endif
