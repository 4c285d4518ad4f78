package import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The graphs of operations that the components of a host run, as reported by them.
///
/// Functions of plugins are called outside the lock, because they may report the end of a graph.
package final class HostOperations: Sendable {
    struct Graph: Sendable {
        /// The handle of the instance that runs the graph.
        let owner: UInt64
        /// The identity that the instance shares with its predecessors and successors.
        let place: ObjectIdentifier
        let name, queue, component, plugin: String
        let count: Int
        /// A Boolean value that indicates whether the graph is a node of another graph.
        let isPart: Bool
        /// The name of the definition with which newer code continues the graph; `nil` if the graph ends with its code.
        let definition: String?
        let functions: OperationFunctions
        var standstill = Standstill.unrequested
        /// The handle of the instance that may continue the graph.
        var successor: UInt64?
        /// The changes that were requested since the graph was saved; `nil` if it is not saved.
        var deferred: [DeferredChange]?
    }
    /// The stages of halting a graph for a swap.
    enum Standstill: Equatable, Sendable {
        case unrequested
        /// The graph was requested to halt, by the request with this number.
        case requested(UInt64)
        case reached
    }
    struct DeferredChange: Sendable {
        let change: OperationChange
        let node: Int?
    }
    struct Definition: Sendable {
        let owner: UInt64
        let name: String
        let functions: OperationDefinitionFunctions
    }
    struct State: Sendable {
        var graphs: [UInt64: Graph] = [:]
        var definitions: [UInt64: Definition] = [:]
        /// The numbers of watches, keyed by graph.
        var watches: [UInt64: Int] = [:]
        /// The nodes of watched graphs that have ended.
        var ended: [UInt64: [OperationNode]] = [:]
        /// The instances whose graphs are halted, including graphs that they start in the meantime.
        var held: Set<UInt64> = []

        /// Returns whether a graph of a definition is running, including in an instance that is being replaced.
        func runs(_ definition: Definition?, of component: ComponentGraphs) -> Bool {
            guard let definition else { return false }
            return graphs.values.contains { $0.definition == definition.name && $0.place == component.place }
        }

        /// Returns the graphs of an instance that newer code continues.
        func survivors(of owner: UInt64) -> [(number: UInt64, graph: Graph)] {
            graphs.filter { $0.value.owner == owner && $0.value.definition != nil }
                .map { (number: $0.key, graph: $0.value) }.sorted { $0.number < $1.number }
        }
    }
    /// The maximum number of listed graphs; additional ones run without being listed.
    private static let limit = 100_000
    /// The function that runs plugin functions that may not return.
    private let launch: Callbacks.Launch
    let state = Mutex(State())

    init(launch: @escaping Callbacks.Launch) { self.launch = launch }

    // MARK: Reports of components

    /// Adds a graph and returns its number; 0 if it is refused.
    ///
    /// - Parameter isClosed: A function that returns whether the owner has been closed, after which ``endAll(of:)``
    ///   removes what it has.
    func begin(
        _ operation: bp_operation, of component: ComponentGraphs, owner: UInt64, unless isClosed: () -> Bool
    ) -> UInt64 {
        let functions = OperationFunctions(operation, component.contexts.add(), launch)
        guard operation.count != nil, operation.definition == 0 || functions.canBeHandedOver else {
            functions.refuse()
            return 0
        }
        let name = operation.name.text, queue = operation.queue.text, count = Int(clamping: operation.node_count)
        let number = operation.continues == 0 ? Callbacks.newID() : operation.continues
        let (isTaken, isHeld, former) = state.withLock { state -> (Bool, Bool, Graph?) in
            let definition = state.definitions[operation.definition]
            let former = state.graphs[operation.continues]
            guard !isClosed(), state.graphs.count < Self.limit || former != nil,
                operation.definition == 0 || definition?.owner == owner,
                operation.continues != 0 || !state.runs(definition, of: component),
                operation.continues == 0 || former?.successor == owner && former?.definition == definition?.name
            else { return (false, false, nil) }
            state.graphs[number] = Graph(
                owner: owner, place: component.place, name: name, queue: queue, component: component.component,
                plugin: component.plugin, count: count, isPart: operation.flags & UInt32(BP_OPERATION_PART) != 0,
                definition: definition?.name,
                functions: functions)
            return (true, definition != nil && state.held.contains(owner), former)
        }
        guard isTaken else {
            functions.refuse()
            return 0
        }
        if let former {
            former.functions.leave()
            for deferred in former.deferred ?? [] { functions.change(deferred.change.number, node: deferred.node) }
        }
        if isHeld { hold([number]) }
        return number
    }

    /// Removes a graph; its context is released once no function uses it.
    func end(_ number: UInt64, owner: UInt64) {
        var nodes: [OperationNode]?, isOver = false
        while !isOver {
            let (graph, isWatched) = state.withLock { state in (state.graphs[number], state.watches[number] != nil) }
            guard let graph, graph.owner == owner else { return }
            if isWatched { nodes = (try? graph.functions.nodes()) ?? [] }
            isOver = state.withLock { state in
                guard state.graphs[number]?.owner == owner else { return true }
                // A watch that has begun meanwhile is to see the final nodes.
                if state.watches[number] != nil {
                    guard let nodes else { return false }
                    state.ended[number] = nodes
                }
                state.graphs[number] = nil
                return true
            }
        }
    }

    /// Adds a definition and returns its number; 0 if it is refused.
    func define(
        _ definition: bp_operation_definition, of component: ComponentGraphs, owner: UInt64, unless isClosed: () -> Bool
    ) -> UInt64 {
        let functions = OperationDefinitionFunctions(definition, component.contexts.add(), launch)
        let number = Callbacks.newID(), name = definition.name.text
        let isTaken =
            (1...128).contains(definition.name.length) && definition.restore != nil
            && state.withLock { state in
                guard !isClosed(),
                    !state.definitions.values.contains(where: { $0.owner == owner && $0.name == name })
                else { return false }
                state.definitions[number] = Definition(owner: owner, name: name, functions: functions)
                return true
            }
        guard isTaken else {
            functions.refuse()
            return 0
        }
        return number
    }

    /// Removes all graphs and definitions of an instance that is ending.
    func endAll(of owner: UInt64) {
        let ended = state.withLock { state in
            let graphs = state.graphs.filter { $0.value.owner == owner }
            for number in graphs.keys { state.graphs[number] = nil }
            let definitions = state.definitions.filter { $0.value.owner == owner }
            for number in definitions.keys { state.definitions[number] = nil }
            state.held.remove(owner)
            return (graphs, definitions)
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: Control

    /// All graphs, in the order in which they were started.
    package var all: [OperationSummary] {
        state.withLock(\.graphs).sorted { $0.key < $1.key }.map { OperationSummary($0.key, $0.value) }
    }

    /// Returns a graph with its nodes.
    ///
    /// - Throws: `operation.unknown` if no such graph runs; the error of a plugin that cannot describe it.
    package func detail(of number: UInt64) throws(BackplaneError) -> OperationDetail {
        let graph = try graph(number)
        return OperationDetail(summary: OperationSummary(number, graph), nodes: try graph.functions.nodes())
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
        let isDeferred = state.withLock { state in
            guard state.graphs[number]?.deferred != nil else { return false }
            state.graphs[number]?.deferred?.append(DeferredChange(change: change, node: node))
            return true
        }
        if isDeferred { return }
        graph.functions.change(change.number, node: node)
        // A swap may have saved the graph or handed it over meanwhile; then the newer code makes the change, too.
        let successor = state.withLock { state -> OperationFunctions? in
            guard let now = state.graphs[number] else { return nil }
            if now.deferred != nil {
                state.graphs[number]?.deferred?.append(DeferredChange(change: change, node: node))
                return nil
            }
            return now.functions === graph.functions ? nil : now.functions
        }
        successor?.change(change.number, node: node)
    }

    func graph(_ number: UInt64) throws(BackplaneError) -> Graph {
        if let graph = state.withLock({ $0.graphs[number] }) { return graph }
        throw .unknownGraph(number)
    }
}

extension BackplaneError {
    static func unknownGraph(_ number: UInt64) -> BackplaneError {
        BackplaneError(
            .operationUnknown,
            "no graph with the number \(number) is running; `backplane operations list` shows those that are")
    }
}

extension OperationSummary {
    fileprivate init(_ number: UInt64, _ graph: HostOperations.Graph) {
        var states: [String: Int] = [:]
        for (state, count) in zip(OperationSummary.states, graph.functions.counts) where count > 0 {
            states[state] = Int(clamping: count)
        }
        self.init(
            number: number, name: graph.name, queue: graph.queue, component: graph.component, plugin: graph.plugin,
            isNamed: graph.definition != nil, states: states)
    }
}

/// The graphs of one component.
struct ComponentGraphs: Sendable {
    let host: HostOperations
    let plugin: String
    let component: String
    /// The identity that the component shares with its predecessors and successors: that of its gate.
    let place: ObjectIdentifier
    let contexts: ContextCount

    func begin(_ operation: bp_operation, of owner: UInt64, unless isClosed: () -> Bool) -> UInt64 {
        host.begin(operation, of: self, owner: owner, unless: isClosed)
    }

    func end(_ number: UInt64, of owner: UInt64) { host.end(number, owner: owner) }

    func define(_ definition: bp_operation_definition, of owner: UInt64, unless isClosed: () -> Bool) -> UInt64 {
        host.define(definition, of: self, owner: owner, unless: isClosed)
    }
}
