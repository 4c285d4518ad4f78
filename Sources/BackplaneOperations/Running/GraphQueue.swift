import Backplane
import Synchronization

/// A queue of graphs, which owns them until they have ended, and shares its places among their nodes.
///
/// ```swift
/// let queue = GraphQueue(width: 4)
/// let run = queue.start(try catalogue())
/// queue.pause()
/// ```
///
/// Ready nodes start in the order of their priorities, and those of equal priority in the order in which they became
/// ready.
public final class GraphQueue: Sendable {
    /// The default width: the maximum number of Dispatch threads, which also bounds Foundation's `OperationQueue`.
    public static let defaultWidth = 64

    private struct Control {
        var isPaused = false
        var hasEnded = false
        var engines: [ObjectIdentifier: GraphEngine] = [:]
    }
    private let control = Mutex(Control())
    private let places: Mutex<QueueScheduler<ReadyNode>>
    /// The maximum number of nodes that run concurrently; of a node that runs a graph only the nodes of that graph
    /// count.
    public let width: Int

    /// Creates an empty queue that runs up to `width` nodes concurrently.
    ///
    /// - Parameter width: The maximum number of nodes that run concurrently; at least 1.
    public init(width: Int = defaultWidth) {
        self.width = max(1, width)
        places = Mutex(QueueScheduler(width: self.width))
    }

    /// Adds a graph to the queue, and starts the nodes that depend on no others.
    ///
    /// If the queue is paused, the graph is paused, too.
    public func start<Output>(_ graph: consuming OperationGraph<Output>) -> GraphRun<Output> {
        let run = prepare(graph)
        run.begin()
        return run
    }

    /// Pauses all graphs, including those that are started before the queue is resumed.
    public func pause() { setPaused(true) }

    /// Resumes all graphs, including graphs and nodes that were paused individually.
    public func resume() { setPaused(false) }

    /// Cancels all graphs that have been started.
    public func cancel() {
        for engine in control.withLock({ Array($0.engines.values) }) { engine.change { $0.cancelAll(&$1) } }
    }

    /// Cancels all graphs because their owner ends, including those that are started later.
    ///
    /// Work that others perform for them, such as transfers, continues.
    package func end() {
        control.withLock { $0.hasEnded = true }
        cancel()
    }

    /// A Boolean value that indicates whether the queue's owner has ended.
    package var hasEnded: Bool { control.withLock { $0.hasEnded } }

    /// Returns a run of a graph that has not begun.
    func prepare<Output>(_ graph: consuming OperationGraph<Output>) -> GraphRun<Output> {
        GraphRun(
            engine: GraphEngine(graph.name, graph.store, graph.scheduler(), on: self), result: graph.result)
    }

    func start(_ engine: GraphEngine) {
        let effects = control.withLock { control in
            // One that was cancelled before it began has been removed already.
            if !engine.state.withLock({ $0.hasEnded }) { control.engines[ObjectIdentifier(engine)] = engine }
            let isPaused = control.isPaused
            return engine.decided { scheduler, actions in
                if isPaused { scheduler.hold(scheduler.nodes.indices, &actions) }
                scheduler.start(&actions)
            }
        }
        engine.carryOut(effects)
        if hasEnded { engine.change { $0.cancelAll(&$1) } }
    }

    private func setPaused(_ isPaused: Bool) {
        // Changes of all graphs are made under one lock, so that the last of several callers prevails for all of them.
        let effects = control.withLock { control in
            control.isPaused = isPaused
            return control.engines.values.map { engine in
                let effects = engine.decided { scheduler, actions in
                    if isPaused {
                        scheduler.hold(scheduler.nodes.indices, &actions)
                    } else {
                        scheduler.release(scheduler.nodes.indices, &actions)
                    }
                }
                return (engine, effects)
            }
        }
        for (engine, effects) in effects { engine.carryOut(effects) }
    }

    func remove(_ engine: GraphEngine) {
        control.withLock { $0.engines[ObjectIdentifier(engine)] = nil }
    }

    /// Releases places, adds ready nodes, and returns the nodes to start.
    func turn(
        freeing freed: Int, _ add: (inout QueueScheduler<ReadyNode>) -> Void = { _ in }
    ) -> (first: ReadyNode?, rest: [ReadyNode]) {
        places.withLock { places in
            places.free(freed)
            add(&places)
            let first = places.next()
            var rest: [ReadyNode] = []
            while first != nil, let next = places.next() { rest.append(next) }
            return (first, rest)
        }
    }
}
