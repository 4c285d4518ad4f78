import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Swap: ParsableCommand {
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
        @OptionGroup var swap: ChangeOptionsArguments
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

        var options: ChangeOptions {
            get throws {
                var options = try swap.options
                options.trustsLibraries = trust
                return options
            }
        }

        static let interruption = "this command ends, but the swap continues; `backplane generations` shows its result"

        func run() throws {
            // The host's current folder may be another one.
            let libraries = libraries.map { $0.contains("/") || ManifestChoice.isFile($0) ? FilePath.absolute($0) : $0 }
            let options = try options
            var host = try host.choice
            if let apply, host.socket == nil, host.manifest == nil {
                (host.manifest, host.takesAnother) = (apply, true)
            }
            let manifest = apply.map { RequestedManifest(FilePath.absolute($0), environment: environment) }
            guard dryRun else {
                let code = host.ask(
                    SwapRequest(libraries: libraries, manifest: manifest, options: options), doing: "swapping",
                    interrupted: Self.interruption
                ) { report, _ in
                    report.print(json: json)
                }
                throw ExitCode(code)
            }
            let code = host.ask(
                PreviewRequest(libraries: libraries, manifest: manifest, options: options), doing: "planning the swap"
            ) { preview, _ in
                if json {
                    Output.json(preview)
                } else {
                    for line in preview.lines(colour: Terminal.wantsColour) { Output.line(line) }
                }
                return preview.refusals.isEmpty ? 0 : 1
            }
            throw ExitCode(code)
        }
    }
}

extension ChangeReport {
    /// Prints the report and returns the exit code; a swap that was rolled back counts as failed.
    func print(json: Bool) -> Int32 {
        if json {
            Output.json(self)
        } else {
            for line in lines(colour: Terminal.wantsColour) { Output.line(line) }
        }
        guard outcome == .rolledBack else { return 0 }
        return Output.fail(failure ?? BackplaneError(.swapFailed, "the new generation failed its probation"))
    }
}

extension SwapPreview {
    /// Returns the preview as text: tables of the changes, then warnings, then the reasons for a refusal.
    func lines(colour: Bool) -> [String] {
        let tables = [pluginTable, componentTable, wireTable].filter { !$0.rows.isEmpty }.map {
            $0.lines(colour: colour)
        }
        let remarks = warnings.map { [Span("warning: ", .doubtful), Span($0.printable)].text(colour: colour) }
        let objections = refusals.flatMap(\.reportLines).map { Span($0, .bad).text(colour: colour) }
        let accepted =
            plugins.isEmpty
            ? "nothing to do: the libraries are identical to the active ones" : "nothing was changed"
        let verdict = refusals.isEmpty ? accepted : "the swap would be refused; nothing was changed:"
        return Array((tables + [remarks + [verdict] + objections]).joined(separator: [""]))
    }

    private var pluginTable: Table {
        Table(
            ["PLUGIN", "VERSION", "GENERATION", "LIBRARY"],
            plugins.map { change in
                [
                    Span(change.plugin.printable),
                    Span(
                        change.fromVersion == change.toVersion
                            ? "\(change.toVersion)" : "\(change.fromVersion) → \(change.toVersion)"),
                    Span(change.generations), Span(change.library.printable),
                ]
            })
    }

    private var componentTable: Table {
        Table(
            ["COMPONENT", "ROLE", "CLASS", "VERSION", "ITS CALLS", "IN FLIGHT", "STATE"],
            components.map { change in
                [
                    Span(change.component.printable), Span(change.role),
                    Span(change.className.printable), Span(change.versions),
                    Span(change.manner == .gated ? "wait" : "do not wait"), Span(change.inFlight),
                    change.state.map {
                        $0.lost == nil ? $0.way : Span("\($0.text), lost: \($0.lost ?? "")".printable, .bad)
                    } ?? Span("-", .faint),
                ]
            })
    }

    private var wireTable: Table {
        Table(
            ["USER", "WIRE", "PROVIDER", "CONTRACT", "LANE", "WHY"],
            wires.map { change in
                let lane = change.fromLane == change.toLane ? change.toLane : "\(change.fromLane) → \(change.toLane)"
                return [change.user ?? "host program", change.label, change.provider, change.contract].map {
                    Span($0.printable)
                }
                    + [
                        Span(lane, change.toLane == "native" ? .good : .doubtful),
                        Span((change.reason ?? "").printable),
                    ]
            })
    }
}

extension ComponentChange {
    fileprivate var inFlight: String {
        graphs.isEmpty ? "\(callsInFlight)" : "\(callsInFlight), \(counted(graphs.count, "graph"))"
    }
}

extension StateChange {
    /// The versions of the state, and the lane in which it would cross.
    fileprivate var way: Span {
        guard let lane else { return Span(text) }
        return Span("\(text), \(lane)\(reason.map { ": \($0.printable)" } ?? "")")
    }
}
