#if Engines
import ArgumentParser
import BackplaneBench

extension BackplaneTool {
    struct Bench: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure the costs of Backplane and of comparable alternatives.",
            discussion: """
                All rows run once in every round, and the figures are medians over the rounds. They are meaningful in \
                a release build only (swift build -c release). The exit code is 0 whether or not the targets are met.

                EXAMPLES
                  backplane bench
                  backplane bench boundary --only actor
                  backplane bench boundary --json > boundary.json
                  backplane bench composition --only 'plugins in C'
                  backplane bench swap --only '4 callers'
                  backplane bench store --only 'page of 100'
                  backplane bench http --only 'of JSON' --instructions
                  backplane bench --only 'host, held' --iterations 10000
                """)

        @Argument(help: "The suite: \(BenchSuite.all.map(\.name).joined(separator: ", ")) (default: all).")
        var suite: String?
        @Option(
            help: ArgumentHelp(
                "Measure only rows whose names contain this text, and their baselines.", valueName: "text")) var only:
            String?
        @Option(
            help: ArgumentHelp(
                "Run every row once with this many iterations, without baselines, for example under callgrind.",
                valueName: "count"))
        var iterations: Int?
        @Flag(
            help:
                "Count instructions with callgrind (valgrind) instead of measuring time, for rows with a ratio; --iterations sets the number of runs of each (default: 1000)."
        )
        var instructions = false
        @Flag(help: "Measure as little as possible, just to see that everything runs.") var quick = false
        @Flag(help: "Print the rows as JSON.") var json = false

        func run() async throws {
            throw ExitCode(
                await BenchCommand(
                    suite: suite, only: only, iterations: iterations, countsInstructions: instructions, quick: quick,
                    json: json
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
            throw ExitCode(await MeasuringChild.run(measure, in: folder, loads: loads))
        }
    }
}
#endif
