/// The changes that one subscriber has not read yet.
///
/// A subscriber first receives the current state of every node. One that falls behind by more than ``limit`` changes
/// starts over in this way, which bounds its memory use.
struct EventFeed: Sendable {
    /// The maximum number of stored changes, which occupy 8 KB.
    static let limit = 1_024

    let id: Int
    private var changes = FIFOQueue<NodeChange>()
    /// The number of nodes whose current state has been delivered.
    private var given: Int32 = 0
    var reader: UnsafeContinuation<NodeChange?, Never>?

    init(id: Int) { self.id = id }

    /// Stores a change, unless the current state of its node has yet to be delivered.
    mutating func note(_ change: NodeChange) {
        guard change.node < given else { return }
        if changes.count == Self.limit {
            changes.removeAll()
            given = 0
        } else {
            changes.append(change)
        }
    }

    /// Returns the next change, or the current state of a node.
    mutating func next(_ scheduler: borrowing GraphScheduler) -> NodeChange? {
        if let change = changes.popFirst() { return change }
        guard given < scheduler.nodes.count else { return nil }
        defer { given += 1 }
        return NodeChange(node: given, state: scheduler.nodes[Int(given)].shown)
    }
}
