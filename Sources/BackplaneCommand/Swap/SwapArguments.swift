#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Swap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Swap new builds of plugins into a running host: all of them, or none.",
            discussion: """
                Calls in flight finish on the old code. Calls that arrive during the swap wait, and none is \
                lost. State is carried over. If anything fails, the old code keeps running and the exit code is 1. \
                With --dry-run, nothing is changed and the planned swap is printed. The host first opens each \
                library in a child process, and refuses a library that terminates it.

                With --apply, a manifest is activated in the same transaction: for a renamed class, a manager in \
                another plugin, a new wire. Manifest, code and state change together or not at all. A component takes \
                over the state of the one that `"was"` names in the manifest. Libraries that the manifest adds need \
                not be listed.

                EXAMPLES
                  backplane swap .build/debug/libAlmanac.so
                  backplane swap .build/debug/libAlmanac.so --dry-run
                  backplane swap Almanac Clock --probation 30 --error-rate 0.05
                  backplane swap Almanac --manifest manifests/almanac.json --json
                  backplane swap Almanac --apply manifests/almanac.json --dry-run
                """)

        @Argument(
            help: ArgumentHelp(
                "The libraries or definition files: their paths, or their names in the manifest.",
                valueName: "library"))
        var libraries: [String] = []
        @Option(
            help: ArgumentHelp("The manifest to activate together with the libraries.", valueName: "manifest"),
            completion: .file())
        var apply: String?
        @Option(
            help: ArgumentHelp(
                "The environment of the --apply manifest (default: the active one).", valueName: "name"))
        var environment: String?
        @OptionGroup var swap: SwapOptionsArguments
        @Flag(help: "Load the libraries without trying them in a child process first.") var trust = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the planned swap and change nothing.") var dryRun = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            if libraries.isEmpty, apply == nil {
                throw ValidationError("name at least one library, or a manifest with --apply")
            }
            if environment != nil, apply == nil { throw ValidationError("--environment requires --apply") }
        }

        /// The command with the given options.
        var command: SwapCommand {
            get throws {
                var options = try swap.options
                options.trustsLibraries = trust
                return SwapCommand(
                    libraries: libraries, manifest: apply, environment: environment, options: options,
                    host: try host.choice, isDry: dryRun, json: json)
            }
        }

        func run() async throws { throw ExitCode(try command.run()) }
    }
}
#endif
