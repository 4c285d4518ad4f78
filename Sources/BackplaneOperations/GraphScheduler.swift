/// The decisions about the nodes of one graph: each event changes the nodes, and adds the resulting work to
/// ``actions``.
///
/// The scheduler runs no code, and has neither a clock nor a queue. It uses loops rather than recursion, and takes time
/// proportional to the number of nodes and edges concerned.
struct GraphScheduler: Sendable {
    enum Phase: UInt8, Sendable {
        /// The node has not started; it is ready if no input is missing.
        case waiting
        /// The node waits between two attempts.
        case delayed
        case running
        /// An attempt has ended while the node is held; the outcome waits.
        case returned
        /// The outcome is certain, and the handlers are being called.
        case settling
        case ended
    }

    enum Outcome: UInt8, Sendable { case succeeded, failed, cancelled }

    struct Marks: OptionSet, Sendable {
        let rawValue: UInt8
        /// The node is to be held.
        static let held = Marks(rawValue: 1)
        /// The node's code is suspended.
        static let suspended = Marks(rawValue: 2)
        /// The node's code has left its place in the queue to the nodes of its own graph.
        static let lent = Marks(rawValue: 4)
        /// An input has failed while the node was held.
        static let doomed = Marks(rawValue: 8)
        /// The node was announced as ready, and has not been requested to start since.
        static let announced = Marks(rawValue: 16)
        /// Another attempt is to follow a failed attempt.
        static let retries = Marks(rawValue: 32)
    }

    struct Node: Sendable {
        var phase = Phase.waiting
        /// The outcome, once an attempt has ended.
        var outcome = Outcome.succeeded
        var marks: Marks = []
        /// A Boolean value that indicates whether the node has handlers, which are called before its dependents start.
        let hasHandlers: Bool
        /// The state that was reported last.
        var shown = NodeState.waiting
        /// The number of the attempt; a report of any other attempt is late.
        var attempt: UInt16 = 0
        /// The number of inputs that have not ended.
        var missing: Int32
        /// The node that caused the failure of this node by its own failure or cancellation.
        var cause: Int32 = -1

        /// A Boolean value that indicates whether the running node counts towards the queue's width.
        var takesPlace: Bool { marks.isDisjoint(with: [.suspended, .lent]) }
        var isHeld: Bool { marks.contains(.held) }

        func isRunning(_ attempt: UInt16) -> Bool { phase == .running && self.attempt == attempt }
        func isHeld(in attempt: UInt16) -> Bool { isHeld && isRunning(attempt) }

        var state: NodeState {
            switch phase {
            case .waiting, .delayed: isHeld ? .paused : .waiting
            case .running: !isHeld ? .running : marks.contains(.suspended) ? .paused : .pausing
            case .returned: .paused
            case .settling: .running
            case .ended:
                switch outcome {
                case .succeeded: .succeeded
                case .failed: .failed
                case .cancelled: .cancelled
                }
            }
        }
    }

    /// An action that results from an event.
    enum Action: Sendable, Equatable {
        /// The node may start; the queue decides when, and `begin` follows.
        case ready(Int)
        /// The running attempt is abandoned: it is cancelled, and no longer awaited.
        case stop(Int)
        /// The node's handlers are to be called; `settled` follows.
        case settle(Int)
        /// Another attempt follows after a delay; `due` follows.
        case retry(Int)
        /// All nodes have ended.
        case ended
    }

    private(set) var nodes: [Node]
    let shape: GraphShape
    /// The number of running nodes that count towards the queue's width.
    private(set) var occupied = 0
    /// The number of nodes that have not ended.
    private(set) var remaining: Int
    /// The actions of the events since the caller removed them.
    var actions: [Action] = []
    /// A Boolean value that indicates whether state changes are collected in ``changes``.
    var isObserved = false
    var changes: [(node: Int32, state: NodeState)] = []
    /// The ended nodes whose dependents have not been updated yet.
    private var ending: [Int32] = []

    /// Creates the scheduler of a graph with at least one node and without cycles.
    init(_ shape: GraphShape, hasHandlers: (Int) -> Bool) {
        self.shape = shape
        remaining = shape.count
        nodes = (0..<shape.count).map {
            Node(hasHandlers: hasHandlers($0), missing: Int32(shape.needs[of: $0].count))
        }
    }

    // MARK: Attempts

    /// Announces the nodes that may start, initially those without inputs.
    mutating func start() {
        for node in nodes.indices { announce(node) }
    }

    /// Starts a node that was announced as ready, and returns the number of the attempt; `nil` if it may no longer
    /// start.
    mutating func begin(_ node: Int) -> UInt16? {
        nodes[node].marks.remove(.announced)
        guard isReady(node) else { return nil }
        nodes[node].phase = .running
        nodes[node].attempt += 1
        occupied += 1
        show(node)
        return nodes[node].attempt
    }

    /// Handles the report of an attempt that has ended.
    ///
    /// - Returns: `false` if the attempt is no longer awaited.
    mutating func returned(_ node: Int, attempt: UInt16, _ outcome: Outcome, retries: Bool) -> Bool {
        guard nodes[node].isRunning(attempt) else { return false }
        conclude(node, outcome, retries: retries)
        return true
    }

    /// Abandons an attempt whose time limit has passed.
    ///
    /// - Returns: `false` if the attempt has ended, or is held.
    mutating func timedOut(_ node: Int, attempt: UInt16, retries: Bool) -> Bool {
        guard nodes[node].isRunning(attempt), !nodes[node].isHeld else { return false }
        actions.append(.stop(node))
        conclude(node, .failed, retries: retries)
        return true
    }

    /// Allows the next attempt to start, after its delay.
    mutating func due(_ node: Int, after attempt: UInt16) {
        guard nodes[node].phase == .delayed, nodes[node].attempt == attempt else { return }
        nodes[node].phase = .waiting
        announce(node)
    }

    /// Ends a node whose handlers have returned.
    mutating func settled(_ node: Int) {
        guard nodes[node].phase == .settling else { return }
        end(node)
        spread()
    }

    /// Frees the place of a node whose code has been suspended, so that another node may start.
    mutating func suspended(_ node: Int, attempt: UInt16) {
        guard nodes[node].isRunning(attempt), nodes[node].isHeld else { return }
        if nodes[node].takesPlace { occupied -= 1 }
        nodes[node].marks.insert(.suspended)
        show(node)
    }

    /// Frees the place of a node whose code waits for a graph, because the nodes of that graph take places.
    mutating func lend(_ node: Int, attempt: UInt16) {
        guard nodes[node].isRunning(attempt), nodes[node].takesPlace else { return }
        occupied -= 1
        nodes[node].marks.insert(.lent)
    }

    // MARK: Control

    /// Cancels nodes that have not ended.
    ///
    /// Their dependents fail, unless they are cancelled as well.
    mutating func cancel(_ chosen: some Sequence<Int>) {
        for node in chosen { cancel(node) }
        spread()
    }

    /// Cancels all nodes except pending finish nodes, which run once all other nodes have ended.
    mutating func cancelAll() {
        for node in nodes.indices {
            let needs = shape.needs[of: node]
            if nodes[node].phase == .waiting, !needs.isEmpty, needs.allSatisfy({ $0.kind == .always }) {
                nodes[node].marks.remove(.held)
                show(node)
                announce(node)
            } else {
                cancel(node)
            }
        }
        spread()
    }

    private mutating func cancel(_ node: Int) {
        switch nodes[node].phase {
        case .settling, .ended: return
        case .running:
            actions.append(.stop(node))
            leave(node)
        case .waiting, .delayed, .returned: break
        }
        (nodes[node].outcome, nodes[node].cause) = (.cancelled, Int32(node))
        nodes[node].marks.subtract([.held, .doomed, .retries])
        settle(node)
    }

    /// Holds nodes that have not ended: they do not start, are suspended, or their results are held back.
    mutating func hold(_ chosen: some Sequence<Int>) {
        for node in chosen where nodes[node].phase != .settling && nodes[node].phase != .ended {
            nodes[node].marks.insert(.held)
            show(node)
        }
    }

    /// Releases nodes that are held.
    mutating func release(_ chosen: some Sequence<Int>) {
        for node in chosen where nodes[node].marks.remove(.held) != nil { released(node) }
        spread()
    }

    private mutating func released(_ node: Int) {
        switch nodes[node].phase {
        case .waiting:
            if nodes[node].marks.contains(.doomed) { return settle(node) }
            announce(node)
        case .running:
            if nodes[node].marks.remove(.suspended) != nil, nodes[node].takesPlace { occupied += 1 }
        case .returned: return resolve(node)
        case .delayed, .settling, .ended: break
        }
        show(node)
    }

    // MARK: Steps

    private func isReady(_ node: Int) -> Bool {
        let node = nodes[node]
        return node.phase == .waiting && node.missing == 0 && node.marks.isDisjoint(with: [.held, .doomed])
    }

    private mutating func announce(_ node: Int) {
        guard isReady(node), nodes[node].marks.insert(.announced).inserted else { return }
        actions.append(.ready(node))
    }

    /// Subtracts a running node from the counted nodes.
    private mutating func leave(_ node: Int) {
        if nodes[node].takesPlace { occupied -= 1 }
        nodes[node].marks.subtract([.suspended, .lent])
    }

    /// Completes an attempt; the outcome of a held node is retained until it is released.
    private mutating func conclude(_ node: Int, _ outcome: Outcome, retries: Bool) {
        leave(node)
        nodes[node].outcome = outcome
        if outcome != .succeeded { nodes[node].cause = Int32(node) }
        if retries { nodes[node].marks.insert(.retries) }
        if nodes[node].isHeld {
            nodes[node].phase = .returned
            show(node)
        } else {
            resolve(node)
        }
        spread()
    }

    private mutating func resolve(_ node: Int) {
        guard nodes[node].marks.remove(.retries) != nil else { return settle(node) }
        nodes[node].phase = .delayed
        actions.append(.retry(node))
        show(node)
    }

    private mutating func settle(_ node: Int) {
        guard nodes[node].hasHandlers else { return end(node) }
        nodes[node].phase = .settling
        actions.append(.settle(node))
        show(node)
    }

    private mutating func end(_ node: Int) {
        nodes[node].phase = .ended
        remaining -= 1
        ending.append(Int32(node))
        show(node)
    }

    /// Updates the dependents of all ended nodes, including those that end as a result.
    private mutating func spread() {
        guard !ending.isEmpty else { return }
        while let ended = ending.popLast() {
            let node = Int(ended), hasSucceeded = nodes[node].outcome == .succeeded
            for edge in shape.dependents[of: node] {
                nodes[edge.node].missing -= 1
                if !hasSucceeded, edge.kind == .plain { doom(edge.node, by: nodes[node].cause) }
                if nodes[edge.node].missing == 0 { announce(edge.node) }
            }
        }
        if remaining == 0 { actions.append(.ended) }
    }

    private mutating func doom(_ node: Int, by cause: Int32) {
        guard nodes[node].phase == .waiting, nodes[node].marks.insert(.doomed).inserted else { return }
        (nodes[node].outcome, nodes[node].cause) = (.failed, cause)
        if !nodes[node].isHeld { settle(node) }
    }

    private mutating func show(_ node: Int) {
        let state = nodes[node].state
        guard state != nodes[node].shown else { return }
        nodes[node].shown = state
        if isObserved { changes.append((Int32(node), state)) }
    }
}

/// The stages of a node, from waiting to one of its three ends.
public enum NodeState: String, Sendable, CaseIterable {
    /// The node waits for its inputs, for other nodes of the queue, or for its next attempt.
    case waiting
    /// The node's code runs.
    case running
    /// The node is being paused: its code still runs, and its result will be held back.
    case pausing
    /// The node is held: it has not started, is suspended, or its result is held back.
    case paused
    /// The node has returned a value.
    case succeeded
    /// The node has thrown an error, exceeded its time limit, or was not run because of another node.
    case failed
    /// The node was cancelled.
    case cancelled

    /// A Boolean value that indicates whether the state is final.
    public var hasEnded: Bool { self == .succeeded || self == .failed || self == .cancelled }
}
