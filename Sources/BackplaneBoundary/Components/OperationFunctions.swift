package import Backplane
package import CBackplane
import Synchronization

/// The plugin's side of a graph of operations: its functions and their context, which is released with this object.
package final class OperationFunctions: Sendable {
    /// The number of nodes that are requested together.
    private static let page = 1_000
    private let functions: ForeignTable<bp_operation>
    private let launch: Callbacks.Launch
    /// The use of the context, which ends once the context has been released.
    private let use: ContextCount.Use
    private let isTaken = Mutex(true)
    private var operation: bp_operation { functions.table }

    /// Creates the functions of a graph.
    ///
    /// - Parameter launch: A function that runs the steps of a swap.
    package init(_ operation: bp_operation, _ use: ContextCount.Use, _ launch: @escaping Callbacks.Launch) {
        (functions, self.use, self.launch) = (ForeignTable(operation), use, launch)
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

    /// Returns the nodes that the plugin describes.
    ///
    /// - Throws: The plugin's error, or `call.invalid-output` for an answer of another form.
    package func nodes() throws(BackplaneError) -> [OperationNode] {
        guard let describe = operation.describe else { return [] }
        var nodes: [OperationNode] = []
        while nodes.count < Int(clamping: operation.node_count) {
            let first = UInt64(nodes.count)
            let answer = ImmediateAnswer.of { describe(operation.context, first, UInt64(Self.page), $0, $1) }
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

    // MARK: Swaps

    /// A Boolean value that indicates whether the graph has all functions that a swap needs.
    package var canBeHandedOver: Bool {
        operation.hold != nil && operation.go_on != nil && operation.save != nil && operation.leave != nil
    }

    /// Halts the graph.
    ///
    /// - Parameter held: A function that is called once no node runs or the graph continues; the status indicates
    ///   which.
    package func hold(_ held: @escaping @Sendable (EncodedAnswer) -> Void) {
        let answer = Callbacks.expect(answered: { _, _ in }, { _, ended in held(ended.answer) })
        operation.hold?(operation.context, Callbacks.done, Callbacks.context(answer))
    }

    /// Resumes the graph.
    package func goOn() { operation.go_on?(operation.context) }

    /// Returns the saved graph.
    ///
    /// - Throws: The plugin's error.
    package func save(_ watch: Callbacks.Watch) async throws(BackplaneError) -> [UInt8] {
        let ended = await Callbacks.wait(watch, launch, answered: { _, _ in }) { [self] context in
            operation.save?(operation.context, Callbacks.done, context)
        }
        return try ended.answer.get()
    }

    /// Ends the graph here, because newer code continues with it.
    package func leave() { operation.leave?(operation.context) }
}

/// A node of a graph of operations, as its plugin describes it.
package struct OperationNode: Codable, Sendable, Hashable {
    package var name: String
    package var state: String
    /// The numbers of the nodes for which the node waits.
    package var needs: [Int]?
    /// The numbers of the nodes among them that need not succeed for the node to run.
    package var always: [Int]?
}

/// The plugin's side of a definition: its function and its context, which is released with this object.
package final class OperationDefinitionFunctions: Sendable {
    private let functions: ForeignTable<bp_operation_definition>
    private let launch: Callbacks.Launch
    /// The use of the context, which ends once the context has been released.
    private let use: ContextCount.Use
    private let isTaken = Mutex(true)
    private var definition: bp_operation_definition { functions.table }

    /// Creates the function of a definition.
    ///
    /// - Parameter launch: A function that runs the definition's function.
    package init(
        _ definition: bp_operation_definition, _ use: ContextCount.Use, _ launch: @escaping Callbacks.Launch
    ) {
        (functions, self.use, self.launch) = (ForeignTable(definition), use, launch)
    }

    deinit {
        if isTaken.withLock(\.self) { definition.release?(definition.context) }
    }

    /// Leaves the context to the plugin, because the host does not accept the definition.
    package func refuse() { isTaken.withLock { $0 = false } }

    /// Continues a graph that older code has saved.
    ///
    /// - Throws: The plugin's reason why this code cannot continue with it.
    package func restore(
        _ operation: UInt64, _ saved: [UInt8], _ watch: Callbacks.Watch
    ) async throws(BackplaneError) {
        let ended = await Callbacks.wait(watch, launch, answered: { _, _ in }) { [self] context in
            saved.withBytes { definition.restore?(definition.context, operation, $0, Callbacks.done, context) }
        }
        _ = try ended.answer.get()
    }
}

/// The answer of a function that must answer before it returns.
private final class ImmediateAnswer: Sendable {
    private let answer = Mutex<EncodedAnswer?>(nil)

    /// Calls the function and returns its answer, or an error if it has not answered.
    static func of(_ function: (bp_done, UnsafeMutableRawPointer?) -> Void) -> EncodedAnswer {
        let own = ImmediateAnswer()
        let number = Callbacks.expect(answered: { _, _ in }) { _, ended in own.answer.withLock { $0 = ended.answer } }
        function(Callbacks.done, Callbacks.context(number))
        let error = BackplaneError(.callInvalidOutput, "the plugin did not describe the graph before it returned")
        Callbacks.end(number, EncodedAnswer(error))
        return own.answer.withLock(\.self) ?? EncodedAnswer(error)
    }
}
