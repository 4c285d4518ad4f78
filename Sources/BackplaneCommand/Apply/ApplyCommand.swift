import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// The command `backplane apply`: activates a manifest in a running host.
struct ApplyCommand: Sendable {
    var manifest: String
    /// The environment to use, or `nil` for the active one.
    var environment: String?
    var host: HostChoice
    /// A Boolean value indicating whether a manifest without managers is accepted.
    var allowsEmpty = false
    var trustsLibraries = false
    var allowsMissingMethods = false
    var discardsState = false
    var encodesState = false
    var abandonsGraphs = false
    var json = false

    func run() -> Int32 {
        var host = host
        if host.socket == nil, host.manifest == nil { (host.manifest, host.takesAnother) = (manifest, true) }
        // The host reads the file itself, and its current folder may be another one.
        let request = ApplyRequest(
            manifest: FilePath.absolute(manifest), environment: environment, empty: allowsEmpty,
            trustsLibraries: trustsLibraries, allowsMissingMethods: allowsMissingMethods,
            discardsState: discardsState, encodesState: encodesState, abandonsGraphs: abandonsGraphs)
        return host.ask(
            request, doing: "activating the manifest",
            interrupted: "this command ends, but the host continues to activate the manifest"
        ) { change, _ in
            change.value.print(json: json)
        }
    }
}

extension ManifestChange {
    /// Prints the change and returns the exit code.
    func print(json: Bool) -> Int32 {
        let row = ChangeRow(self)
        if json { Output.json(row) } else { for line in row.lines { Output.line(line) } }
        return 0
    }
}
