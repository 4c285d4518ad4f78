import Backplane
package import BackplaneHost

extension ManagerChanges {
    /// A Boolean value that indicates whether managers start, stop or are reconfigured, and not only recreated.
    var movesAny: Bool { !(started.isEmpty && stopped.isEmpty && reconfigured.isEmpty) }

    /// The lines of a text report, one for each kind of change that occurred.
    package var lines: [String] {
        let kinds = [
            ("started", started), ("recreated", restarted), ("reconfigured", reconfigured), ("stopped", stopped),
        ].filter { !$0.1.isEmpty }
        let changes = kinds.map { kind, names in "\(kind): \(names.sorted().joined(separator: ", ").printable)" }
        let rest = kept.isEmpty ? [] : ["\(counted(kept.count, "manager")) unaffected"]
        return changes.isEmpty && rest.isEmpty ? ["no manager was or is running"] : changes + rest
    }
}
