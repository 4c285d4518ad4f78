public import Backplane
import CBackplane
import Synchronization

/// The graphs of operations that the components of a host run, as reported by them.
///
/// Functions of plugins are called outside the lock, because they may report the end of a graph.
package final class HostOperations: Sendable {
    private struct Graph: Sendable {
        /// The handle of the instance that runs the graph.
        let owner: UInt64
        let name, queue, component, plugin: String
        let count: Int
        let functions: OperationFunctions
        /// The followers of the graph. A signal is `nil` after changes, and the final nodes at the end.
        var followers: [Int: AsyncStream<[OperationNode]?>.Continuation] = [:]
    }
    private struct State: Sendable {
        /// The number of graphs that have begun; users type the numbers of graphs, so these are small.
        var begun: UInt64 = 0
        var graphs: [UInt64: Graph] = [:]
        var lastFollower = 0
    }
    /// The maximum number of listed graphs; additional ones run without being listed.
    private static let limit = 100_000
    private let state = Mutex(State())

    init() {}

    /// Adds a graph and returns its number; 0 if it is refused.
    ///
    /// A component is closed before ``endAll(of:)`` removes its graphs.
    func begin(_ operation: bp_operation, of component: OfferedServices, owner: UInt64) -> UInt64 {
        let functions = OperationFunctions(operation, component.contexts.add())
        let graph = Graph(
            owner: owner, name: operation.name.text, queue: operation.queue.text, component: component.name,
            plugin: component.plugin, count: Int(clamping: operation.node_count), functions: functions)
        let number = state.withLock { state -> UInt64 in
            guard operation.count != nil, !component.isClosed, state.graphs.count < Self.limit else { return 0 }
            state.begun += 1
            state.graphs[state.begun] = graph
            return state.begun
        }
        if number == 0 { functions.refuse() }
        return number
    }

    /// Handles the report that the states of a graph's nodes have changed.
    func changed(_ number: UInt64, owner: UInt64) {
        state.withLock { state in
            guard let graph = state.graphs[number], graph.owner == owner else { return }
            for follower in graph.followers.values { follower.yield(nil) }
        }
    }

    /// Removes a graph; its context is released once no function uses it.
    func end(_ number: UInt64, owner: UInt64) {
        let ended = state.withLock { state in
            state.graphs[number]?.owner == owner ? state.graphs.removeValue(forKey: number) : nil
        }
        guard let ended, !ended.followers.isEmpty else { return }
        let nodes = (try? ended.functions.nodes()) ?? []
        for follower in ended.followers.values {
            follower.yield(nodes)
            follower.finish()
        }
    }

    /// Removes all graphs of an instance that is ending.
    func endAll(of owner: UInt64) {
        let ended = state.withLock { state in
            let ended = state.graphs.filter { $0.value.owner == owner }
            for number in ended.keys { state.graphs[number] = nil }
            return ended
        }
        for follower in ended.values.flatMap(\.followers.values) { follower.finish() }
    }

    /// The number of graphs of an instance that have not ended.
    func count(of owner: UInt64) -> Int {
        state.withLock { state in state.graphs.values.count { $0.owner == owner } }
    }

    /// Returns the numbers and names of an instance's graphs that have not ended, in the order of their start.
    func running(of owner: UInt64) -> [(number: UInt64, name: String)] {
        state.withLock { $0.graphs.filter { $0.value.owner == owner } }
            .map { (number: $0.key, name: $0.value.name) }.sorted { $0.number < $1.number }
    }

    /// Returns whether a graph has not ended.
    func isRunning(_ number: UInt64) -> Bool { state.withLock { $0.graphs[number] != nil } }

    /// Cancels all graphs of an instance.
    func cancelAll(of owner: UInt64) {
        for graph in state.withLock(\.graphs).values where graph.owner == owner {
            graph.functions.change(OperationChange.cancel.number, node: nil)
        }
    }

    /// All graphs, in the order in which they were started.
    package var all: [OperationSummary] {
        state.withLock(\.graphs).sorted { $0.key < $1.key }.map { Self.summary($0.key, $0.value) }
    }

    /// Returns a graph with its nodes, in the order in which they were added.
    ///
    /// - Throws: `operation.unknown` if no such graph runs; the error of a plugin that cannot describe it.
    package func detail(of number: UInt64) throws(BackplaneError) -> (summary: OperationSummary, nodes: [OperationNode])
    {
        let graph = try graph(number)
        return (Self.summary(number, graph), try graph.functions.nodes())
    }

    /// Changes a graph or one of its nodes.
    ///
    /// - Throws: `operation.unknown` if no such graph runs, or it has no such node.
    package func change(_ change: OperationChange, _ number: UInt64, node: Int?) throws(BackplaneError) {
        let graph = try graph(number)
        if let node, !(0..<graph.count).contains(node) {
            throw BackplaneError(
                .operationUnknown,
                "`\(graph.name)` has no node \(node); its nodes have the numbers from 0 to \(graph.count - 1)",
                at: "\(number)")
        }
        graph.functions.change(change.number, node: node)
    }

    /// Passes a graph's nodes to a function: the current nodes, the nodes after each change, and the final nodes.
    ///
    /// - Throws: `operation.unknown` if no such graph runs; the error of a plugin that cannot describe it; the error of
    ///   the function; `call.cancelled`.
    package func follow(
        _ number: UInt64, _ show: ([OperationNode]) throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        let (signals, follower) = AsyncStream.makeStream(
            of: [OperationNode]?.self, bufferingPolicy: .bufferingNewest(1))
        follower.yield(nil)
        let own = try add(follower, to: number)
        defer { state.withLock { state in state.graphs[number]?.followers[own] = nil } }
        for await final in signals {
            // A graph that has ended meanwhile is followed by its final nodes.
            if let nodes = final {
                try show(nodes)
            } else if let nodes = try currentNodes(of: number) {
                try show(nodes)
            }
        }
        guard !Task.isCancelled else {
            throw BackplaneError(.callCancelled, "the client no longer follows the graph")
        }
    }

    private func add(
        _ follower: AsyncStream<[OperationNode]?>.Continuation, to number: UInt64
    ) throws(BackplaneError) -> Int {
        let (own, graph) = state.withLock { state in
            state.lastFollower += 1
            state.graphs[number]?.followers[state.lastFollower] = follower
            return (state.lastFollower, state.graphs[number])
        }
        guard let graph else { throw Self.unknown(number) }
        graph.functions.watch()
        return own
    }

    private func currentNodes(of number: UInt64) throws(BackplaneError) -> [OperationNode]? {
        try state.withLock { $0.graphs[number] }?.functions.nodes()
    }

    private func graph(_ number: UInt64) throws(BackplaneError) -> Graph {
        if let graph = state.withLock({ $0.graphs[number] }) { return graph }
        throw Self.unknown(number)
    }

    private static func unknown(_ number: UInt64) -> BackplaneError {
        BackplaneError(
            .operationUnknown,
            "no graph with the number \(number) is running; `backplane operations list` shows those that are")
    }

    private static func summary(_ number: UInt64, _ graph: Graph) -> OperationSummary {
        var states: [String: Int] = [:]
        for (state, count) in zip(OperationSummary.states, graph.functions.counts) where count > 0 {
            states[state] = Int(clamping: count)
        }
        return OperationSummary(
            number: number, name: graph.name, queue: graph.queue, component: graph.component, plugin: graph.plugin,
            states: states)
    }
}

/// A graph of operations that a component runs.
package struct OperationSummary: Sendable {
    package var number: UInt64
    package var name: String
    /// The name of the queue that runs the graph; empty for the component's own queue.
    package var queue: String
    package var component: String
    package var plugin: String
    /// The number of nodes in each state, omitting states without nodes.
    package var states: [String: Int]

    /// The states of nodes, in the order of `BP_NODE_…`.
    static let states = ["waiting", "running", "pausing", "paused", "succeeded", "failed", "cancelled"]
}

/// A change of a graph or a node.
package enum OperationChange: String, Codable, CaseIterable, Sendable {
    case pause, resume, cancel

    fileprivate var number: UInt32 {
        switch self {
        case .pause: UInt32(BP_OPERATION_PAUSE)
        case .resume: UInt32(BP_OPERATION_RESUME)
        case .cancel: UInt32(BP_OPERATION_CANCEL)
        }
    }
}

/// The functions of `backplane.operations/1`.
let operationFunctions = bp_operations_1(
    size: UInt32(MemoryLayout<bp_operations_1>.size), reserved: 0,
    begin: { handle, operation in
        guard let component = ComponentHandles.find(handle), component.role != .dataAccessController else { return 0 }
        return component.graphs.begin(read(operation), of: component, owner: handle)
    },
    end: { handle, number in ComponentHandles.find(handle)?.graphs.end(number, owner: handle) },
    changed: { handle, number in ComponentHandles.find(handle)?.graphs.changed(number, owner: handle) })

extension BackplaneError.Code {
    /// The code of the error for a graph that is not running, or for a node that its graph does not have.
    public static let operationUnknown = Self(rawValue: "operation.unknown")
}
