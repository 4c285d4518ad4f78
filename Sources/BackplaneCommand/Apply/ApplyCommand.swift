import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// `backplane apply`: puts a manifest in force in a running host.
struct ApplyCommand: Sendable {
    var manifest: String
    /// `nil`: the one in force.
    var environment: String?
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        var host = host
        if host.socket == nil, host.manifest == nil { (host.manifest, host.takesAnother) = (manifest, true) }
        // The host reads it, and stands in another folder.
        let request = ApplyRequest(manifest: FilePath.absolute(manifest), environment: environment)
        return host.ask(request, doing: "putting the manifest in force", interrupted: "this command ends, and the host goes on with the manifest") { change, _ in
            change.value.print(json: json)
        }
    }
}

extension ManifestChange {
    /// Prints it, and gives the exit code.
    func print(json: Bool) -> Int32 {
        let row = ChangeRow(self)
        if json { Output.json(row) } else { for line in row.lines { Output.line(line) } }
        return 0
    }
}
