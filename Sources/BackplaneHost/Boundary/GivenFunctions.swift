package import Backplane
package import CBackplane
import Synchronization

/// The number of contexts of graphs and timers that a component has given to its host.
///
/// The contexts are released before the component's instance, which the plugin's release of a context may use.
package final class ContextCount: Sendable {
    private let held = Atomic<Int>(0)

    package init() {}

    package var isZero: Bool { held.load(ordering: .acquiring) == 0 }

    /// Counts one more context, for as long as the returned object exists.
    package func add() -> Use { Use(self) }

    /// The use of one context, for as long as the object exists.
    package final class Use: Sendable {
        private let count: ContextCount

        fileprivate init(_ count: ContextCount) {
            self.count = count
            count.held.wrappingAdd(1, ordering: .relaxed)
        }

        deinit { count.held.wrappingSubtract(1, ordering: .releasing) }
    }
}

/// The plugin's side of a graph of operations: its functions and their context, which is released with this object.
package final class OperationFunctions: Sendable {
    /// The number of nodes that are requested together.
    private static let page = 1_000
    private let functions: ForeignTable<bp_operation>
    /// The use of the context, which ends once the context has been released.
    private let use: ContextCount.Use
    private let isTaken = Mutex(true)
    private var operation: bp_operation { functions.table }

    package init(_ operation: bp_operation, _ use: ContextCount.Use) {
        (functions, self.use) = (ForeignTable(operation), use)
    }

    deinit {
        if isTaken.withLock(\.self) { operation.release?(operation.context) }
    }

    /// Leaves the context to the plugin, because the host does not accept the graph.
    package func refuse() { isTaken.withLock { $0 = false } }

    /// The numbers of nodes in each state, in the order of `BP_NODE_…`.
    package var counts: [UInt64] {
        var counts = [UInt64](repeating: 0, count: Int(BP_NODE_STATES))
        counts.withUnsafeMutableBufferPointer { counts in
            if let start = counts.baseAddress { operation.count?(operation.context, start) }
        }
        return counts
    }

    /// Returns the nodes of the graph as described by the plugin.
    ///
    /// - Throws: The plugin's error, or `call.invalid-output` for an answer of another form.
    package func nodes() throws(BackplaneError) -> [OperationNode] {
        guard let describe = operation.describe else { return [] }
        let silence = BackplaneError(.callInvalidOutput, "the plugin did not describe the graph before it returned")
        var nodes: [OperationNode] = []
        while nodes.count < Int(clamping: operation.node_count) {
            let first = UInt64(nodes.count)
            let answer = Callbacks.immediateAnswer(or: silence) {
                describe(operation.context, first, UInt64(Self.page), $0, $1)
            }
            let page = try JSON.decode([OperationNode].self, try answer.get(), failing: .callInvalidOutput)
            guard !page.isEmpty else { break }
            nodes += page
        }
        return nodes
    }

    /// Pauses, resumes or cancels a node or, without a number, all nodes.
    package func change(_ change: UInt32, node: Int?) {
        operation.change?(operation.context, change, node.map(Int64.init) ?? -1)
    }

    /// Lets the plugin report changes of nodes from now on.
    package func watch() { operation.watch?(operation.context) }
}

/// A node of a graph of operations, as described by its plugin.
package struct OperationNode: Codable, Sendable, Hashable {
    package var name: String
    package var state: String
    /// The numbers of the nodes for which the node waits.
    package var needs: [Int]?
    /// The numbers of the nodes among them that need not succeed for the node to run.
    package var always: [Int]?
}

/// The plugin's side of a timer: its functions and their context, which is released with this object.
package final class TimerFunctions: Sendable {
    private let functions: ForeignTable<bp_timer>
    /// The use of the context, which ends once the context has been released.
    private let use: ContextCount.Use
    private var timer: bp_timer { functions.table }

    package init(_ timer: bp_timer, _ use: ContextCount.Use) { (functions, self.use) = (ForeignTable(timer), use) }

    deinit { timer.release?(timer.context) }

    /// Starts the body; its answer is expected under `run` (``Callbacks``).
    package func fire(_ call: Call, run: UInt64) {
        call.withC { timer.fire?(timer.context, $0, run, Callbacks.done, Callbacks.context(run)) }
    }

    package func cancel(_ run: UInt64) {
        timer.cancel?(timer.context, run)
    }
}
