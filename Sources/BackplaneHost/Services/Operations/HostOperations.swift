import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// A graph of operations that a component runs.
package struct OperationSummary: Sendable {
    /// The number that identifies the graph.
    package var number: UInt64
    package var name: String
    package var component: String
    package var plugin: String
    /// The numbers of nodes by their states.
    package var states: [String: Int]
}

/// A graph with the names and states of its nodes, in the order in which they were added.
package struct OperationDetail: Sendable {
    package var summary: OperationSummary
    package var nodes: [(name: String, state: String)]
}

/// A change of a graph or a node.
package enum OperationChange: Sendable {
    case pause, resume, cancel

    fileprivate var number: UInt32 {
        switch self {
        case .pause: UInt32(BP_OPERATION_PAUSE)
        case .resume: UInt32(BP_OPERATION_RESUME)
        case .cancel: UInt32(BP_OPERATION_CANCEL)
        }
    }
}

/// The graphs of operations that the components of a host run, as they have reported them.
final class HostOperations: Sendable {
    private struct Entry: Sendable {
        let owner: UInt64
        let name, component, plugin: String
        let count: Int
        let functions: OperationFunctions
    }
    /// The greatest number of graphs that are listed; further ones run without being known.
    private static let limit = 100_000
    private let entries = Mutex<[UInt64: Entry]>([:])

    /// Adds a graph and returns its number; 0 if there are too many.
    func begin(_ operation: bp_operation, of component: ComponentOperations, owner: UInt64) -> UInt64 {
        let number = Callbacks.newID()
        let entry = Entry(
            owner: owner, name: operation.name.text, component: component.component, plugin: component.plugin,
            count: Int(clamping: operation.node_count), functions: OperationFunctions(operation))
        let isTaken = entries.withLock { entries in
            guard entries.count < Self.limit else { return false }
            entries[number] = entry
            return true
        }
        guard isTaken else {
            entry.functions.keepsContext()
            return 0
        }
        return number
    }

    /// Removes a graph; its context is released once no function uses it.
    func end(_ number: UInt64, owner: UInt64) {
        let entry = entries.withLock { entries in
            entries[number]?.owner == owner ? entries.removeValue(forKey: number) : nil
        }
        withExtendedLifetime(entry) {}  // outside of the lock
    }

    /// Removes all graphs of an instance.
    func endAll(of owner: UInt64) {
        let ended = entries.withLock { entries in
            let ended = entries.filter { $0.value.owner == owner }
            for number in ended.keys { entries[number] = nil }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    /// All graphs, in the order in which they were started.
    var all: [OperationSummary] {
        entries.withLock { $0 }.sorted { $0.key < $1.key }.map { summary($0.key, $0.value, $0.value.functions.nodes) }
    }

    /// Returns a graph with its nodes.
    ///
    /// - Throws: `operation.unknown` if no such graph runs.
    func detail(of number: UInt64) throws(BackplaneError) -> OperationDetail {
        let entry = try entry(number), nodes = entry.functions.nodes
        return OperationDetail(summary: summary(number, entry, nodes), nodes: nodes)
    }

    /// Changes a graph or one of its nodes.
    ///
    /// - Throws: `operation.unknown` if no such graph runs, or it has no such node.
    func change(_ change: OperationChange, _ number: UInt64, node: Int?) throws(BackplaneError) {
        let entry = try entry(number)
        if let node, !(0..<entry.count).contains(node) {
            throw BackplaneError(
                .operationUnknown, "`\(entry.name)` has \(entry.count) nodes, and none with the number \(node)",
                at: "\(number)")
        }
        entry.functions.change(change.number, node: node)
    }

    private func entry(_ number: UInt64) throws(BackplaneError) -> Entry {
        if let entry = entries.withLock({ $0[number] }) { return entry }
        throw BackplaneError(
            .operationUnknown, "no graph with this number runs; `backplane operations list` shows those that do",
            at: "\(number)")
    }

    private func summary(
        _ number: UInt64, _ entry: Entry, _ nodes: [(name: String, state: String)]
    ) -> OperationSummary {
        var states: [String: Int] = [:]
        for node in nodes { states[node.state, default: 0] += 1 }
        return OperationSummary(
            number: number, name: entry.name, component: entry.component, plugin: entry.plugin, states: states)
    }
}

/// The graphs of one component.
struct ComponentOperations: Sendable {
    let host: HostOperations
    let plugin: String
    let component: String
}

extension BackplaneError.Code {
    /// No graph or node with this number runs.
    public static let operationUnknown = Self(rawValue: "operation.unknown")
}
