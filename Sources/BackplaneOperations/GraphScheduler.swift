/// The decisions about the nodes of one graph: it receives events and returns actions.
///
/// It runs no code, and has neither a clock nor a queue. It reports which nodes are ready, and is notified of those
/// that start. All work is done in loops rather than by recursion, in time proportional to the number of nodes and
/// edges concerned.
struct GraphScheduler: Sendable {
    /// Properties of a node that do not change.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8
        /// The node's code can be suspended.
        static let suspends = Traits(rawValue: 1)
        /// The node has handlers, which are called before its dependents start.
        static let handles = Traits(rawValue: 2)
        /// The node does not count towards the queue's width while it runs.
        static let isWeightless = Traits(rawValue: 4)
        /// The node has edges, all of which are `always`, so that it runs even if everything is cancelled.
        static let finishes = Traits(rawValue: 8)
        /// The node has an edge that passes failures, so that it receives their errors.
        static let tolerates = Traits(rawValue: 16)
    }

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
        /// An input has failed while the node was held.
        static let doomed = Marks(rawValue: 4)
        /// The node was announced as ready, and has not been requested to start since.
        static let announced = Marks(rawValue: 8)
        /// The time limit has passed while the node's code was suspended.
        static let late = Marks(rawValue: 16)
        /// Another attempt is to follow the one that has failed.
        static let retries = Marks(rawValue: 32)
    }

    struct Node: Sendable {
        var phase = Phase.waiting
        /// The outcome, once an attempt has ended.
        var outcome = Outcome.succeeded
        var marks: Marks = []
        var traits: Traits
        var priority: NodePriority
        /// The state that was reported last.
        var shown = NodeState.waiting
        /// The number of the attempt; a report of any other is late.
        var attempt: UInt16 = 0
        /// The number of inputs that have not ended.
        var missing: Int32 = 0
        /// The node whose failure or cancellation caused that of this one.
        var cause: Int32 = -1
    }

    private(set) var nodes: [Node]
    let shape: GraphShape
    /// The number of running nodes that count towards the queue's width.
    private(set) var occupied = 0
    /// The number of nodes that have not ended.
    private(set) var remaining: Int
    /// A Boolean value that indicates whether state changes are collected in ``changes``.
    var isObserved = false
    var changes: [NodeChange] = []
    /// The ended nodes whose dependents have not been updated yet.
    private var ending: [Int32] = []

    /// Creates the scheduler of a graph with at least one node and without cycles.
    init(_ shape: GraphShape, _ description: (Int) -> (traits: Traits, priority: NodePriority)) {
        self.shape = shape
        remaining = shape.count
        nodes = (0..<shape.count).map { number in
            var (traits, priority) = description(number)
            let needs = shape.needs[of: number]
            if needs.contains(where: { $0.kind != .plain }) { traits.insert(.tolerates) }
            if !needs.isEmpty, needs.allSatisfy({ $0.kind == .always }) { traits.insert(.finishes) }
            var node = Node(traits: traits, priority: priority)
            node.missing = Int32(needs.count)
            return node
        }
    }

    // MARK: Events

    /// Announces the nodes that may start, initially those without inputs.
    mutating func start(_ actions: inout [GraphAction]) {
        for node in nodes.indices { announce(node, &actions) }
    }

    /// Returns whether the node, which was announced as ready, starts now.
    mutating func begin(_ node: Int) -> Bool {
        nodes[node].marks.remove(.announced)
        guard isReady(node) else { return false }
        nodes[node].phase = .running
        nodes[node].attempt += 1
        if !nodes[node].traits.contains(.isWeightless) { occupied += 1 }
        show(node)
        return true
    }

    /// Handles the report of an attempt that has ended.
    ///
    /// - Returns: `false` if the attempt is no longer awaited.
    mutating func returned(
        _ node: Int, attempt: UInt16, _ outcome: Outcome, retries: Bool, _ actions: inout [GraphAction]
    ) -> Bool {
        guard nodes[node].phase == .running, nodes[node].attempt == attempt else { return false }
        leave(node)
        conclude(node, outcome, retries: retries, &actions)
        spread(&actions)
        return true
    }

    /// Abandons an attempt whose time limit has passed.
    ///
    /// - Returns: `false` if the attempt has ended, or is suspended.
    mutating func timedOut(_ node: Int, attempt: UInt16, retries: Bool, _ actions: inout [GraphAction]) -> Bool {
        guard nodes[node].phase == .running, nodes[node].attempt == attempt else { return false }
        if nodes[node].traits.contains(.suspends), nodes[node].marks.contains(.held) {
            nodes[node].marks.insert(.late)
            return false
        }
        actions.append(.stop(node))
        leave(node)
        conclude(node, .failed, retries: retries, &actions)
        spread(&actions)
        return true
    }

    /// Allows the next attempt to start, after its delay.
    mutating func due(_ node: Int, after attempt: UInt16, _ actions: inout [GraphAction]) {
        guard nodes[node].phase == .delayed, nodes[node].attempt == attempt else { return }
        nodes[node].phase = .waiting
        announce(node, &actions)
    }

    /// Ends a node whose handlers have returned.
    mutating func settled(_ node: Int, _ actions: inout [GraphAction]) {
        guard nodes[node].phase == .settling else { return }
        end(node)
        spread(&actions)
    }

    // MARK: Control

    /// Cancels nodes that have not ended.
    ///
    /// Their dependents fail, unless they are cancelled as well.
    mutating func cancel(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen { cancel(node, &actions) }
        spread(&actions)
    }

    /// Cancels all nodes except pending finish nodes, which run once all other nodes have ended.
    mutating func cancelAll(_ actions: inout [GraphAction]) {
        for node in nodes.indices {
            if nodes[node].phase == .waiting, nodes[node].traits.contains(.finishes) {
                nodes[node].marks.remove(.held)
                show(node)
                announce(node, &actions)
            } else {
                cancel(node, &actions)
            }
        }
        spread(&actions)
    }

    private mutating func cancel(_ node: Int, _ actions: inout [GraphAction]) {
        switch nodes[node].phase {
        case .settling, .ended: return
        case .running:
            actions.append(.stop(node))
            leave(node)
        case .waiting, .delayed, .returned: break
        }
        (nodes[node].outcome, nodes[node].cause) = (.cancelled, Int32(node))
        nodes[node].marks.subtract([.held, .doomed, .retries])
        settle(node, &actions)
    }

    /// Holds nodes that have not ended: they do not start, are suspended, or their results are held back.
    mutating func hold(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen {
            guard nodes[node].phase != .settling, nodes[node].phase != .ended else { continue }
            guard nodes[node].marks.insert(.held).inserted else { continue }
            if nodes[node].phase == .running, nodes[node].traits.contains(.suspends) { actions.append(.notify(node)) }
            show(node)
        }
    }

    /// Releases nodes that are held.
    mutating func release(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen where nodes[node].marks.remove(.held) != nil { released(node, &actions) }
        spread(&actions)
    }

    private mutating func released(_ node: Int, _ actions: inout [GraphAction]) {
        switch nodes[node].phase {
        case .waiting:
            if nodes[node].marks.contains(.doomed) { return settle(node, &actions) }
            announce(node, &actions)
        case .running:
            let wasPlaced = nodes[node].takesPlace
            nodes[node].marks.remove(.suspended)
            if !wasPlaced, nodes[node].takesPlace { occupied += 1 }
            if nodes[node].traits.contains(.suspends) { actions.append(.notify(node)) }
            if nodes[node].marks.remove(.late) != nil { actions.append(.timer(node)) }
        case .returned: return resolve(node, &actions)
        case .delayed, .settling, .ended: break
        }
        show(node)
    }

    /// Handles the report that a node's code has been suspended, so that another node may start.
    mutating func suspended(_ node: Int, attempt: UInt16) {
        guard nodes[node].phase == .running, nodes[node].attempt == attempt, nodes[node].marks.contains(.held),
            !nodes[node].marks.contains(.suspended)
        else { return }
        if nodes[node].takesPlace { occupied -= 1 }
        nodes[node].marks.insert(.suspended)
        show(node)
    }

    // MARK: Steps

    private func isReady(_ node: Int) -> Bool {
        let node = nodes[node]
        return node.phase == .waiting && node.missing == 0 && node.marks.isDisjoint(with: [.held, .doomed])
    }

    private mutating func announce(_ node: Int, _ actions: inout [GraphAction]) {
        guard isReady(node), !nodes[node].marks.contains(.announced) else { return }
        nodes[node].marks.insert(.announced)
        actions.append(.ready(node, nodes[node].priority))
    }

    /// Uncounts a running node.
    private mutating func leave(_ node: Int) {
        if nodes[node].takesPlace { occupied -= 1 }
        nodes[node].marks.subtract([.suspended, .late])
    }

    /// Completes an attempt; the outcome of a held node is retained until it is released.
    private mutating func conclude(
        _ node: Int, _ outcome: Outcome, retries: Bool, _ actions: inout [GraphAction]
    ) {
        nodes[node].outcome = outcome
        if outcome != .succeeded { nodes[node].cause = Int32(node) }
        if retries { nodes[node].marks.insert(.retries) }
        if nodes[node].marks.contains(.held) {
            nodes[node].phase = .returned
            show(node)
        } else {
            resolve(node, &actions)
        }
    }

    private mutating func resolve(_ node: Int, _ actions: inout [GraphAction]) {
        guard nodes[node].marks.remove(.retries) != nil else { return settle(node, &actions) }
        nodes[node].phase = .delayed
        actions.append(.retry(node))
        show(node)
    }

    private mutating func settle(_ node: Int, _ actions: inout [GraphAction]) {
        guard nodes[node].traits.contains(.handles) else { return end(node) }
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
    private mutating func spread(_ actions: inout [GraphAction]) {
        guard !ending.isEmpty else { return }
        while let ended = ending.popLast() {
            let node = Int(ended), hasSucceeded = nodes[node].outcome == .succeeded
            for place in shape.dependents.range(of: node) {
                let edge = shape.dependents[place]
                nodes[edge.node].missing -= 1
                if !hasSucceeded, edge.kind == .plain { doom(edge.node, by: nodes[node].cause, &actions) }
                if nodes[edge.node].missing == 0 { announce(edge.node, &actions) }
            }
        }
        if remaining == 0 { actions.append(.ended) }
    }

    private mutating func doom(_ node: Int, by cause: Int32, _ actions: inout [GraphAction]) {
        guard nodes[node].phase == .waiting, !nodes[node].marks.contains(.doomed) else { return }
        (nodes[node].outcome, nodes[node].cause) = (.failed, cause)
        nodes[node].marks.insert(.doomed)
        if !nodes[node].marks.contains(.held) { settle(node, &actions) }
    }

    private mutating func show(_ node: Int) {
        let state = nodes[node].state
        guard state != nodes[node].shown else { return }
        nodes[node].shown = state
        if isObserved { changes.append(NodeChange(node: Int32(node), state: state)) }
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

/// A change of a node's state.
struct NodeChange: Sendable, Equatable {
    var node: Int32
    var state: NodeState
}

/// An action that the scheduler requests.
enum GraphAction: Sendable, Equatable {
    /// The node may start; the queue decides when.
    case ready(Int, NodePriority)
    /// The running attempt is abandoned: it is cancelled, and no longer awaited.
    case stop(Int)
    /// The node's code is to be notified whether it is paused.
    case notify(Int)
    /// The time limit of the node's attempt starts over.
    case timer(Int)
    /// The node's handlers are to be called; `settled` follows.
    case settle(Int)
    /// Another attempt follows after a delay; `due` follows.
    case retry(Int)
    /// All nodes have ended.
    case ended
}

extension GraphScheduler.Node {
    /// A Boolean value that indicates whether the running node counts towards the queue's width.
    var takesPlace: Bool { !traits.contains(.isWeightless) && !marks.contains(.suspended) }

    var state: NodeState {
        let isHeld = marks.contains(.held)
        return switch phase {
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
