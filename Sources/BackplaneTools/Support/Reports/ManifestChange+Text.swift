import Backplane
package import BackplaneHost

/// A change as `apply --json` and `reset --json` print it, with sorted names.
package struct ChangeRow: Encodable {
    package var started: [String]
    package var restarted: [String]
    package var stopped: [String]
    package var reconfigured: [String]
    package var kept: [String]

    package init(_ change: ManifestChange) {
        (started, restarted) = (change.started.sorted(), change.restarted.sorted())
        (stopped, kept) = (change.stopped.sorted(), change.kept.sorted())
        reconfigured = change.reconfigured.sorted()
    }

    /// The lines of a text report, one for each kind of change that occurred.
    package var lines: [String] {
        let kinds = [
            ("started", started), ("recreated", restarted), ("reconfigured", reconfigured), ("stopped", stopped),
        ].filter { !$0.1.isEmpty }
        let changes = kinds.map { kind, names in "\(kind): \(names.joined(separator: ", ").printable)" }
        let rest = kept.isEmpty ? [] : ["\(counted(kept.count, "manager")) unaffected"]
        return changes.isEmpty && rest.isEmpty ? ["no manager was or is running"] : changes + rest
    }
}
