/// A change of a node's state.
public struct GraphEvent: Sendable {
    /// The number of the node: the nodes are numbered in the order in which they were added, from 0.
    public let node: Int
    /// The name that the node was added with.
    public let name: String
    /// The state that the node has come to.
    public let state: NodeState
}

/// The changes of states of a graph's nodes, from the present ones to the end.
public struct GraphEvents: AsyncSequence, Sendable {
    let engine: GraphEngine

    /// Subscribes: the present state of each node comes first.
    public func makeAsyncIterator() -> Iterator { Iterator(Subscription(engine)) }

    /// One subscriber.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription

        fileprivate init(_ subscription: Subscription) { self.subscription = subscription }

        /// Returns the next change; `nil` after that of the last node, or if the task is cancelled.
        public mutating func next() async -> GraphEvent? {
            let engine = subscription.engine
            guard let change = await engine.next(of: subscription.feed) else { return nil }
            let node = Int(change.node)
            return GraphEvent(node: node, name: engine.store.steps[node].name, state: change.state)
        }
    }
}

/// The claim of a subscriber, which ends with it.
private final class Subscription: Sendable {
    let engine: GraphEngine
    let feed: Int

    init(_ engine: GraphEngine) { (self.engine, feed) = (engine, engine.subscribe()) }

    deinit { engine.unsubscribe(feed) }
}
