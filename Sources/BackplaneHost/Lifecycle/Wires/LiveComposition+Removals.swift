import Backplane
import BackplaneBoundary

/// A running component whose code changes.
struct RemovingChange {
    let gate: Gate
    let old, new: Plan.Node
}

extension LiveComposition {
    /// Returns an error for each wire that uses methods that its provider loses.
    ///
    /// The wires of the manifest come first, followed by those of the host program and of lookups.
    ///
    /// - Parameters:
    ///   - next: The manifest with the new code.
    ///   - succession: The nodes of the active plan that those of the next one continue.
    ///   - changes: The components that change.
    ///   - leaving: The ids of the nodes that change, whose wires are compared as declared in their new code.
    func removals(
        in next: LoadedManifest, _ succession: Succession, _ changes: [RemovingChange], leaving: Set<Int>
    ) -> [BackplaneError] {
        let planned = loaded.methodsRemoved(in: next, succession)
        let others = changes.flatMap { change in
            connections.wires(to: change.gate, but: leaving).compactMap { wire in
                RemovedMethods(
                    wire.status.user, wire.status.label, needing: wire.end.side.contract, of: change.new,
                    from: change.old.entry.component.contract, to: change.new.entry.component.contract)
            }
        }
        return (planned + others.filter { !planned.contains($0) }).map(\.error)
    }
}
