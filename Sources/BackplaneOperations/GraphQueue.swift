public import Backplane
import Synchronization

/// A queue of graphs, which owns graphs until they have ended, and limits how many of their nodes run concurrently.
///
/// ```swift
/// let queue = GraphQueue(width: 4)
/// let run = queue.start(try catalogue())
/// queue.pause()
/// ```
///
/// Ready nodes start in the order of their priorities; nodes of equal priority start in the order in which they became
/// ready.
public final class GraphQueue: Sendable {
    /// The default width: the maximum number of Dispatch threads, which is also the limit of Foundation's
    /// `OperationQueue`.
    public static let defaultWidth = 64

    private struct Control {
        var isPaused = false
        var hasEnded = false
        var engines: [ObjectIdentifier: GraphEngine] = [:]
        /// The other queues of the same owner.
        var others: [GraphQueue] = []
    }
    /// The name, for display; empty for the queue that each component has by default.
    public let name: String
    /// The maximum number of nodes that run concurrently, not counting nodes that wait for a graph of their own.
    public let width: Int
    /// The host that is notified of graphs; `nil` for a queue that belongs to no component.
    let host: HostGraphs?
    private let control = Mutex(Control())
    private let places: Mutex<QueueScheduler<ReadyNode>>

    /// Creates an empty queue that runs up to `width` nodes concurrently.
    ///
    /// - Parameter width: The maximum number of nodes that run concurrently; at least 1.
    public convenience init(width: Int = defaultWidth) { self.init("", width: width, host: nil) }

    /// Creates another queue for a component, which ends with the component.
    ///
    /// ```swift
    /// let covers = GraphQueue("covers", width: 4, besides: context.operations)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - width: The maximum number of nodes that run concurrently; at least 1.
    ///   - queue: A queue of the component.
    public convenience init(_ name: String, width: Int = defaultWidth, besides queue: GraphQueue) {
        self.init(name, width: width, host: queue.host)
        let hasEnded = queue.control.withLock { control in
            if !control.hasEnded { control.others.append(self) }
            return control.hasEnded
        }
        if hasEnded { end() }
    }

    private init(_ name: String, width: Int, host: HostGraphs?) {
        (self.name, self.width, self.host) = (name, max(1, width), host)
        places = Mutex(QueueScheduler(width: self.width))
    }

    // MARK: Control

    /// Adds a graph to the queue, and starts the nodes that depend on no others.
    ///
    /// If the queue is paused, the graph is also paused.
    public func start<Output>(_ graph: consuming OperationGraph<Output>) -> GraphRun<Output> {
        let run = prepare(graph)
        start(run.engine)
        return run
    }

    /// Pauses all graphs, including graphs that are started before the queue is resumed.
    public func pause() { setPaused(true) }

    /// Resumes all graphs, including graphs and nodes that were paused individually.
    public func resume() { setPaused(false) }

    /// Cancels all graphs that have been started.
    public func cancel() {
        for engine in control.withLock({ Array($0.engines.values) }) { engine.change { $0.cancelAll() } }
    }

    /// Cancels all graphs, including graphs that are started later, because their owner ends.
    ///
    /// Work that others perform for them, such as transfers, continues.
    func end() {
        let others = control.withLock { control in
            control.hasEnded = true
            defer { control.others = [] }
            return control.others
        }
        cancel()
        for other in others { other.end() }
    }

    /// A Boolean value that indicates whether the queue's owner has ended.
    package var hasEnded: Bool { control.withLock { $0.hasEnded } }

    private func setPaused(_ isPaused: Bool) {
        // All graphs are changed under one lock, so that the last of several callers prevails for every graph.
        let effects = control.withLock { control in
            control.isPaused = isPaused
            return control.engines.values.map { engine in
                (engine, engine.decide { isPaused ? $0.hold($0.nodes.indices) : $0.release($0.nodes.indices) })
            }
        }
        for (engine, effects) in effects { engine.carryOut(effects) }
    }

    // MARK: Graphs

    /// Returns a run of a graph that has not started.
    func prepare<Output>(_ graph: consuming OperationGraph<Output>) -> GraphRun<Output> {
        GraphRun(engine: GraphEngine(graph, on: self), result: graph.result)
    }

    func start(_ engine: GraphEngine) {
        host?.begin(engine)
        let effects = control.withLock { control in
            // A graph that a user of the host has cancelled in the meantime has already been removed.
            if !engine.hasEnded { control.engines[ObjectIdentifier(engine)] = engine }
            let isPaused = control.isPaused
            return engine.decide { scheduler in
                if isPaused { scheduler.hold(scheduler.nodes.indices) }
                scheduler.start()
            }
        }
        engine.carryOut(effects)
        if hasEnded { engine.change { $0.cancelAll() } }
    }

    func remove(_ engine: GraphEngine) { control.withLock { $0.engines[ObjectIdentifier(engine)] = nil } }

    /// Updates the number of counted nodes, adds ready nodes, and returns the nodes to start.
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

/// The decisions of a queue about the ready nodes to start.
///
/// Nodes of higher priority come first. Nodes of equal priority start in the order in which they became ready.
struct QueueScheduler<Entry: Sendable>: Sendable {
    /// The ready nodes of one priority: the nodes to start next, in reverse order, and later nodes.
    private struct Lane: Sendable {
        var next: [Entry] = []
        var later: [Entry] = []

        mutating func popFirst() -> Entry? {
            if next.isEmpty, !later.isEmpty {
                next = later.reversed()
                later.removeAll(keepingCapacity: later.count <= 1_024)
            }
            return next.popLast()
        }
    }

    /// The maximum number of nodes that run concurrently.
    let width: Int
    /// The number of counted running nodes.
    ///
    /// It exceeds the width while too many suspended nodes have been resumed.
    private(set) var occupied = 0
    private var lanes = NodePriority.allCases.map { _ in Lane() }

    init(width: Int) { self.width = width }

    /// Adds a node that is ready.
    mutating func add(_ entry: Entry, _ priority: NodePriority) { lanes[Int(priority.rawValue)].later.append(entry) }

    /// Subtracts from the number of running nodes; a negative number adds to it.
    mutating func free(_ places: Int) { occupied -= places }

    /// Returns the node to start next and counts it, or returns `nil` if no node is ready or the width is reached.
    mutating func next() -> Entry? {
        guard occupied < width else { return nil }
        for lane in lanes.indices.reversed() {
            guard let entry = lanes[lane].popFirst() else { continue }
            occupied += 1
            return entry
        }
        return nil
    }
}

extension ManagerContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A graph ends in the code that began it. A swap treats it as a call in flight.
    ///
    /// ```swift
    /// let run = context.operations.start(try synchronise())
    /// ```
    public var operations: GraphQueue { .of(self) }
}

extension CommunicationContext where Owner: Component {
    /// The component's queue of graphs, as a manager has one.
    public var operations: GraphQueue { .of(self) }
}

extension NetworkServiceContext where Owner: Component {
    /// The component's queue of graphs, as a manager has one.
    public var operations: GraphQueue { .of(self) }
}

extension GraphQueue {
    /// Returns the queue of a component, which is created on first use, and ends with the component.
    fileprivate static func of(_ context: some ComponentContext) -> GraphQueue {
        context.services.attachments.object {
            let queue = GraphQueue("", width: defaultWidth, host: HostGraphs(context.services))
            context.tasks.run {
                // Until the component's tasks are cancelled.
                let (signal, continuation) = AsyncStream.makeStream(of: Never.self)
                for await _ in signal {}
                withExtendedLifetime(continuation) { queue.end() }
            }
            return queue
        }
    }
}
