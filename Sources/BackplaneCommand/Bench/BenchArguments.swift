#if Engines
import ArgumentParser
import BackplaneBench

extension BackplaneTool {
    struct Bench: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measures what Backplane costs, beside what it is compared with.",
            discussion: """
                Figures are medians of the rounds, which all rows go through together. They mean something in a release build only: \
                swift build -c release. Exit code 0 whether or not targets are met.

                EXAMPLES
                  backplane bench
                  backplane bench boundary --only actor
                  backplane bench boundary --json > boundary.json
                  backplane bench composition --only 'plugins in C'
                  backplane bench swap --only '4 callers'
                  backplane bench --only 'host, held' --iterations 10000
                """)

        @Argument(help: "One suite (\(BenchSuite.all.map(\.name).joined(separator: ", "))); all when left out.")
        var suite: String?
        @Option(
            help: ArgumentHelp(
                "Measure rows with this in their names, and what they are compared with.", valueName: "text")) var only:
            String?
        @Option(
            help: ArgumentHelp(
                "Do every row so many times, once, and nothing to compare with: for callgrind.", valueName: "count"))
        var iterations: Int?
        @Flag(help: "Measure next to nothing, to see that everything runs.") var quick = false
        @Flag(help: "Print the rows as JSON.") var json = false

        func run() async throws {
            throw ExitCode(
                await BenchCommand(
                    suite: suite, only: only, iterations: iterations, quick: quick, json: json, digest: Engines.digest
                ).run())
        }
    }

    /// The child process of ``Bench`` that loads and swaps libraries.
    struct BenchChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: MeasuringChild.command, shouldDisplay: false)

        @Argument var measure: String
        @Argument var folder: String
        @Argument var loads: String

        func run() async throws {
            throw ExitCode(await MeasuringChild.run(measure, in: folder, loads: loads, digest: Engines.digest))
        }
    }
}
#endif
