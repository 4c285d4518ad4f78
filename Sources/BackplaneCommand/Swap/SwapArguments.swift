#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Swap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts new builds of plugins in force in a running host: all of them, or none.",
            discussion: """
                Calls under way end on the code they began on; calls that come meanwhile wait, and none is lost. If anything fails the old code \
                goes on, and exit code is 1. State is carried over. With --dry-run nothing is touched, and what would happen is printed. A library that \
                ends the child process in which the host opens it first is refused.

                EXAMPLES
                  backplane swap .build/debug/libAlmanac.so
                  backplane swap .build/debug/libAlmanac.so --dry-run
                  backplane swap Almanac Clock --probation 30 --error-rate 0.05
                  backplane swap Almanac --manifest manifests/almanac.json --json
                """)

        @Argument(
            help: ArgumentHelp(
                "Libraries: their paths, or their names as the manifest gives them.", valueName: "library"))
        var libraries: [String]
        @OptionGroup var swap: SwapOptionsArguments
        @Flag(help: "Load the libraries without opening them in a child process first.") var trust = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Only say what would happen.") var dryRun = false
        @Flag(help: "Print what happened as JSON.") var json = false

        func run() async throws {
            var options = try swap.options
            options.trustsLibraries = trust
            throw ExitCode(
                SwapCommand(
                    libraries: libraries, options: options, host: try host.choice, isDry: dryRun, json: json
                ).run())
        }
    }
}
#endif
