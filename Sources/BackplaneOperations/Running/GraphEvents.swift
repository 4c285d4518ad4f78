/// A change of a node's state.
public struct GraphEvent: Sendable {
    /// The number of the node: nodes are numbered from 0 in the order in which they were added.
    public let node: Int
    /// The name with which the node was added.
    public let name: String
    /// The new state of the node.
    public let state: NodeState
}

/// The state changes of a graph's nodes, beginning with the current states and ending with the graph.
public struct GraphEvents: AsyncSequence, Sendable {
    let engine: GraphEngine

    /// Subscribes to the changes; the current state of each node comes first.
    public func makeAsyncIterator() -> Iterator { Iterator(Subscription(engine)) }

    /// One subscriber.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription

        fileprivate init(_ subscription: Subscription) { self.subscription = subscription }

        /// Returns the next change; `nil` after the last one, or if the task is cancelled.
        public mutating func next() async -> GraphEvent? {
            let engine = subscription.engine
            guard let change = await engine.next(of: subscription.feed) else { return nil }
            let node = Int(change.node)
            return GraphEvent(node: node, name: engine.store.steps[node].name, state: change.state)
        }
    }
}

/// The subscription of one subscriber, which ends when it is released.
private final class Subscription: Sendable {
    let engine: GraphEngine
    let feed: Int

    init(_ engine: GraphEngine) { (self.engine, feed) = (engine, engine.subscribe()) }

    deinit { engine.unsubscribe(feed) }
}
