/// The changes that one subscriber has not read yet.
///
/// A subscriber gets the present state of every node first. One that falls behind by more than ``limit`` changes begins
/// again in that way, so that what is kept for it is bounded.
struct EventFeed: Sendable {
    /// The number of changes that are kept: 8 KB.
    static let limit = 1_024

    let id: Int
    private var changes = FIFOQueue<NodeChange>()
    /// The number of nodes whose present state was given.
    private var given: Int32 = 0
    var reader: UnsafeContinuation<NodeChange?, Never>?

    init(id: Int) { self.id = id }

    /// Notes a change; one of a node whose present state is still to be given says nothing new.
    mutating func note(_ change: NodeChange) {
        guard change.node < given else { return }
        if changes.count == Self.limit {
            changes.removeAll()
            given = 0
        } else {
            changes.append(change)
        }
    }

    /// Returns the next change, or a node's present state.
    mutating func next(_ scheduler: borrowing GraphScheduler) -> NodeChange? {
        if let change = changes.popFirst() { return change }
        guard given < scheduler.nodes.count else { return nil }
        defer { given += 1 }
        return NodeChange(node: given, state: scheduler.nodes[Int(given)].shown)
    }
}
