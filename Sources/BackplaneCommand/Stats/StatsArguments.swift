#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists what has been asked of every component of a running host.",
            discussion: """
                Calls that began, those of them that failed, those under way, and those that wait for a change to end.

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
