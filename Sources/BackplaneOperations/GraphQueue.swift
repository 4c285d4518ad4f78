public import Backplane
import Synchronization

/// A queue of graphs, which owns them until they have ended, and limits how many of their nodes run concurrently.
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
    /// The default width: the maximum number of Dispatch threads, which is also the limit of Foundation's
    /// `OperationQueue`.
    public static let defaultWidth = 64

    private struct Control {
        var isPaused = false
        var hasEnded = false
        var engines: [ObjectIdentifier: GraphEngine] = [:]
        /// The numbers of graphs that the host knows.
        var numbers: [ObjectIdentifier: UInt64] = [:]
        /// The other queues of the same owner.
        var others: [GraphQueue] = []
    }
    /// The name, for display; empty for the queue that each component has by default.
    public let name: String
    /// The host that is notified of graphs; `nil` for a queue that belongs to no component.
    let host: HostGraphs?
    private let control = Mutex(Control())
    private let places: Mutex<QueueScheduler<ReadyNode>>
    /// The maximum number of nodes that run concurrently, not counting nodes that are themselves graphs.
    public let width: Int

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
        queue.add(self)
    }

    init(_ name: String = "", width: Int = defaultWidth, host: HostGraphs?) {
        (self.name, self.width, self.host) = (name, max(1, width), host)
        places = Mutex(QueueScheduler(width: self.width))
    }

    /// Adds a graph to the queue, and starts the nodes that depend on no others.
    ///
    /// If the queue is paused, the graph is also paused.
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

    /// Cancels all graphs, including those that are started later, because their owner ends.
    ///
    /// Work that others perform for them, such as transfers, continues.
    package func end() {
        let others = control.withLock { control in
            control.hasEnded = true
            defer { control.others = [] }
            return control.others
        }
        cancel()
        for other in others { other.end() }
    }

    private func add(_ other: GraphQueue) {
        let hasEnded = control.withLock { control in
            if !control.hasEnded { control.others.append(other) }
            return control.hasEnded
        }
        if hasEnded { other.end() }
    }

    /// A Boolean value that indicates whether the queue's owner has ended.
    package var hasEnded: Bool { control.withLock { $0.hasEnded } }

    /// Returns a run of a graph that has not started.
    func prepare<Output>(_ graph: consuming OperationGraph<Output>) -> GraphRun<Output> {
        GraphRun(
            engine: GraphEngine(graph.name, graph.store, graph.scheduler(), on: self), result: graph.result)
    }

    func start(_ engine: GraphEngine) {
        report(engine)
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
        let number = control.withLock { control in
            control.engines[ObjectIdentifier(engine)] = nil
            return control.numbers.removeValue(forKey: ObjectIdentifier(engine))
        }
        if let number { host?.end(number) }
    }

    /// Notifies the host of a graph that starts.
    private func report(_ engine: GraphEngine) {
        guard let host, let number = host.begin(engine) else { return }
        let hasEnded = control.withLock { control in
            // One that was cancelled before it began has been removed already.
            guard !engine.state.withLock({ $0.hasEnded }) else { return true }
            control.numbers[ObjectIdentifier(engine)] = number
            return false
        }
        if hasEnded { host.end(number) }
    }

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

/// The decisions of a queue about which ready nodes of its graphs start.
///
/// Nodes of higher priority come first; among nodes of equal priority, those that became ready first.
struct QueueScheduler<Entry: Sendable>: Sendable {
    /// The maximum number of nodes that run concurrently.
    let width: Int
    /// The number of running nodes that count. It exceeds the width while more suspended nodes have been resumed than
    /// it allows.
    private(set) var occupied = 0
    private var lanes = NodePriority.allCases.map { _ in FIFOQueue<Entry>() }

    init(width: Int) { self.width = width }

    /// Adds a node that is ready.
    mutating func add(_ entry: Entry, _ priority: NodePriority) { lanes[Int(priority.rawValue)].append(entry) }

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

/// A first-in, first-out queue whose operations take constant time.
struct FIFOQueue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { first == elements.count }
    var count: Int { elements.count - first }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: first <= 1_024)
            first = 0
        } else if first >= 64, first * 2 > elements.count {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }

    mutating func removeAll() { (elements, first) = ([], 0) }
}

extension ManagerContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A graph ends in the code that began it. A swap treats it as a call in flight.
    ///
    /// ```swift
    /// let run = context.operations.start(try synchronise())
    /// ```
    public var operations: GraphQueue { ownQueue }
}

extension CommunicationContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A graph ends in the code that began it. A swap treats it as a call in flight.
    public var operations: GraphQueue { ownQueue }
}

extension NetworkServiceContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A graph ends in the code that began it. A swap treats it as a call in flight.
    public var operations: GraphQueue { ownQueue }
}

extension ComponentContext {
    /// The queue that is created on first use, and ends with the component.
    fileprivate var ownQueue: GraphQueue {
        services.attachments.object {
            let queue = GraphQueue(host: HostGraphs(services))
            tasks.run {
                // Until the component's tasks are cancelled.
                let (signal, continuation) = AsyncStream.makeStream(of: Never.self)
                for await _ in signal {}
                withExtendedLifetime(continuation) { queue.end() }
            }
            return queue
        }
    }
}
