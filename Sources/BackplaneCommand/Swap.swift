import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Swap: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "swap",
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
        @OptionGroup var change: NewCodeArguments
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            if libraries.isEmpty, apply == nil {
                throw ValidationError("name at least one library, or a manifest with --apply")
            }
            if environment != nil, apply == nil { throw ValidationError("--environment requires --apply") }
        }

        static let interruption = "this command ends, but the swap continues; `backplane generations` shows its result"

        func run() throws {
            // The host's current folder may be another one.
            let libraries = libraries.map { $0.contains("/") || ManifestChoice.isFile($0) ? FilePath.absolute($0) : $0 }
            let options = try change.options
            var host = try host.choice
            if let apply, host.socket == nil, host.manifest == nil {
                (host.manifest, host.takesAnother) = (apply, true)
            }
            let manifest = apply.map { RequestedManifest(FilePath.absolute($0), environment: environment) }
            let code =
                change.dryRun
                ? host.ask(
                    PreviewRequest(libraries: libraries, manifest: manifest, options: options),
                    doing: "planning the swap"
                ) { plan, _ in plan.print(json: json) }
                : host.ask(
                    SwapRequest(libraries: libraries, manifest: manifest, options: options), doing: "swapping",
                    interrupted: Self.interruption
                ) { report, _ in report.print(json: json) }
            throw ExitCode(code)
        }
    }
}

extension ChangeReport {
    /// The exit code; a change that would be refused or was rolled back counts as failed.
    var exitCode: Int32 { outcome == .rolledBack || !refusals.isEmpty ? 1 : 0 }

    /// Prints the report and returns the exit code.
    func print(json: Bool) -> Int32 {
        if json {
            Output.json(self)
        } else {
            for line in lines(colour: Terminal.wantsColour) { Output.line(line) }
        }
        if outcome == .rolledBack {
            _ = Output.fail(failure ?? BackplaneError(.swapFailed, "the new generation failed its probation"))
        }
        return exitCode
    }
}
