import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// The command `backplane swap`: activates new builds of plugins in a running host, or previews the activation.
struct SwapCommand: Sendable {
    /// The paths of the libraries or definition files, or their names in the manifest.
    var libraries: [String]
    /// The manifest to activate together with them, if any.
    var manifest: String?
    /// The environment of that manifest, or `nil` for the active one.
    var environment: String?
    var options: SwapOptions
    var host: HostChoice
    /// A Boolean value that indicates whether to only preview the swap.
    var isDry = false
    var json = false

    func run() -> Int32 {
        // The host's current folder may be another one.
        let libraries = libraries.map { $0.contains("/") || ManifestChoice.isFile($0) ? FilePath.absolute($0) : $0 }
        var host = host
        if let manifest, host.socket == nil, host.manifest == nil {
            (host.manifest, host.takesAnother) = (manifest, true)
        }
        let apply = manifest.map { AppliedManifestForm(manifest: FilePath.absolute($0), environment: environment) }
        guard isDry else {
            return host.ask(
                SwapRequest(libraries: libraries, apply: apply, options: options), doing: "swapping",
                interrupted: Self.interruption
            ) { report, _ in
                report.value.print(json: json)
            }
        }
        return host.ask(
            PreviewRequest(libraries: libraries, apply: apply, options: options), doing: "planning the swap"
        ) { preview, _ in
            if json {
                Output.json(preview)
            } else {
                for line in preview.value.lines(colour: Terminal.wantsColour) { Output.line(line) }
            }
            return preview.value.refusals.isEmpty ? 0 : 1
        }
    }

    static let interruption = "this command ends, but the swap continues; `backplane generations` shows its result"
}

extension SwapReport {
    /// Prints the report and returns the exit code; a swap that was rolled back counts as failed.
    func print(json: Bool) -> Int32 {
        if json {
            Output.json(SwapReportForm(self))
        } else {
            for line in lines(colour: Terminal.wantsColour) { Output.line(line) }
        }
        guard outcome == .rolledBack else { return 0 }
        return Output.fail(failure ?? BackplaneError(.swapFailed, "the new generation failed its probation"))
    }
}
