import Backplane
import Synchronization

// The tasks that wait for a graph, and its subscribers.
extension GraphEngine {
    /// Passes state changes to the subscribers; requires the lock.
    func publish(_ state: inout State, _ effects: inout Effects) {
        guard state.scheduler.isObserved else { return }
        for change in state.scheduler.changes {
            for feed in state.feeds.indices { state.feeds[feed].note(change) }
            guard change.state.hasEnded, var watching = state.watching.removeValue(forKey: change.node) else {
                continue
            }
            effects.wake(&watching)
        }
        state.scheduler.changes.removeAll(keepingCapacity: true)
        for feed in state.feeds.indices {
            guard let reader = state.feeds[feed].reader else { continue }
            let change = state.feeds[feed].next(state.scheduler)
            guard change != nil || state.isOver else { continue }
            state.feeds[feed].reader = nil
            effects.read.append((reader, change))
        }
        state.observe()
    }

    // MARK: Ends

    /// Waits until every node has ended.
    nonisolated(nonsending) func end() async {
        await wait { state, waiting in
            if !state.isOver { state.waiting.append(waiting) }
            return state.isOver
        }
    }

    /// Waits until every node has ended, and the code of abandoned nodes has returned.
    nonisolated(nonsending) func drained() async {
        await wait { state, waiting in
            let isDrained = state.isOver && state.abandoned == 0
            if !isDrained { state.draining.append(waiting) }
            return isDrained
        }
    }

    /// Waits until a node has ended.
    nonisolated(nonsending) func end(of node: Int) async {
        await wait { state, waiting in
            let hasEnded = state.scheduler.nodes[node].phase == .ended
            if !hasEnded {
                state.watching[Int32(node), default: []].append(waiting)
                state.observe()
            }
            return hasEnded
        }
    }

    private nonisolated(nonsending) func wait(
        _ begin: @Sendable (inout State, UnsafeContinuation<Void, Never>) -> Bool
    ) async {
        await withUnsafeContinuation { waiting in
            if state.withLock({ begin(&$0, waiting) }) { waiting.resume() }
        }
    }

    /// Returns the result of a node that has ended.
    func result<Output>(of step: TypedStep<Output>) -> Result<Output, BackplaneError> {
        state.withLock { state in
            knowFailure(of: Int(step.index), state.scheduler)
            return step.result
        }
    }

    // MARK: Feeds

    func subscribe() -> Int {
        state.withLock { state in
            state.lastFeed += 1
            state.feeds.append(EventFeed(id: state.lastFeed))
            state.observe()
            return state.lastFeed
        }
    }

    func unsubscribe(_ feed: Int) {
        let reader = state.withLock { state in
            defer { state.observe() }
            return state.feeds.firstIndex { $0.id == feed }.map { state.feeds.remove(at: $0).reader } ?? nil
        }
        reader?.resume(returning: nil)
    }

    /// Waits for the next change of a feed, and returns it; returns `nil` after the end, or if the feed is no longer
    /// read.
    nonisolated(nonsending) func next(of feed: Int) async -> NodeChange? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { reader in
                let (isOver, change) = state.withLock { state -> (Bool, NodeChange?) in
                    guard let feed = state.feeds.firstIndex(where: { $0.id == feed }), !Task.isCancelled else {
                        return (true, nil)
                    }
                    if let change = state.feeds[feed].next(state.scheduler) { return (true, change) }
                    if !state.isOver { state.feeds[feed].reader = reader }
                    return (state.isOver, nil)
                }
                if isOver { reader.resume(returning: change) }
            }
        } onCancel: {
            unsubscribe(feed)
        }
    }
}

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
