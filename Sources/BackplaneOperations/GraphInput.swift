public import Backplane

/// The input of a node: the nodes for which it waits, and the value that it receives from them.
///
/// The simplest input is a ``GraphNode``: its dependents receive its value, and fail if it fails. With
/// ``GraphNode/always`` and ``GraphNode/recover(_:)``, a dependent runs even in that case.
public protocol GraphInput<Value>: Sendable {
    /// The type of the value that the dependent receives.
    associatedtype Value: Sendable
    /// Adds the edges from the nodes for which the dependent waits.
    func addEdges(to edges: inout GraphEdges)
    /// Returns the value; called when every edge allows the dependent to run.
    func receive() async throws -> Value
}

extension GraphInput {
    /// Returns the input that combines this value with another one.
    public func and<Other: GraphInput>(_ other: Other) -> BothInputs<Self, Other> {
        BothInputs(first: self, second: other)
    }
}

/// A node of a graph, which is also the input that receives its value.
///
/// A dependent runs when the node has succeeded, and fails if the node fails or is cancelled.
public struct GraphNode<Output: Sendable>: GraphInput {
    let step: TypedStep<Output>

    /// The name with which the node was added.
    public var name: String { step.name }

    /// Adds an edge that lets the dependent run only after success.
    public func addEdges(to edges: inout GraphEdges) { edges.add(step, .plain) }

    /// Returns the value that the node produced.
    public func receive() async throws -> Output { try step.result.get() }

    /// An input that receives the node's value or its error, so that the dependent runs in either case.
    public var always: EveryOutcome<Output> { EveryOutcome(step: step) }

    /// Returns an input that receives the node's value, or a replacement that a function derives from its error.
    ///
    /// The function is called just before the dependent runs, and the dependent fails if it throws an error. It is
    /// called for a node that failed, was cancelled, or was not run.
    public func recover(
        _ fallback: @escaping @Sendable (BackplaneError) async throws -> Output
    ) -> RecoveredOutcome<Output> {
        RecoveredOutcome(step: step, fallback: fallback)
    }
}

/// The input that receives a node's value or error.
public struct EveryOutcome<Output: Sendable>: GraphInput {
    let step: TypedStep<Output>

    /// Adds an edge that lets the dependent run after any outcome.
    public func addEdges(to edges: inout GraphEdges) { edges.add(step, .always) }

    /// Returns the value or the error of the node.
    public func receive() async throws -> Result<Output, BackplaneError> { step.result }
}

/// The input that receives a node's value or a replacement.
public struct RecoveredOutcome<Output: Sendable>: GraphInput {
    let step: TypedStep<Output>
    let fallback: @Sendable (BackplaneError) async throws -> Output

    /// Adds an edge that lets the dependent run after any outcome.
    public func addEdges(to edges: inout GraphEdges) { edges.add(step, .recover) }

    /// Returns the value of the node, or its replacement.
    public func receive() async throws -> Output {
        switch step.result {
        case .success(let value): value
        case .failure(let error): try await fallback(error)
        }
    }
}

/// The input that combines two inputs, which may themselves be combined.
public struct BothInputs<First: GraphInput, Second: GraphInput>: GraphInput {
    let first: First
    let second: Second

    /// Adds the edges of the first input, and then of the second.
    public func addEdges(to edges: inout GraphEdges) {
        first.addEdges(to: &edges)
        second.addEdges(to: &edges)
    }

    /// Returns both values.
    public func receive() async throws -> (First.Value, Second.Value) {
        (try await first.receive(), try await second.receive())
    }
}

/// The input that receives any number of values of one type.
struct EveryInput<Input: GraphInput>: GraphInput {
    let inputs: [Input]

    func addEdges(to edges: inout GraphEdges) {
        for input in inputs { input.addEdges(to: &edges) }
    }

    func receive() async throws -> [Input.Value] {
        var values: [Input.Value] = []
        values.reserveCapacity(inputs.count)
        for input in inputs { values.append(try await input.receive()) }
        return values
    }
}

/// The empty input.
package struct NoInput: GraphInput {
    package init() {}
    package func addEdges(to edges: inout GraphEdges) {}
    package func receive() async throws {}
}

/// The input that requires the success of any number of nodes, and receives no values.
struct EverySuccess: GraphInput {
    let steps: [GraphStep]

    func addEdges(to edges: inout GraphEdges) {
        for step in steps { edges.add(step, .plain) }
    }

    func receive() async throws {}
}
