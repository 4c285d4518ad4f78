public import Backplane

/// The input of a node: the nodes for which it waits, and the value that it receives from them.
///
/// The simplest input is a ``GraphNode``: its dependents receive its value, and fail if it fails. With
/// ``GraphNode/always`` and ``GraphNode/recover(_:)``, a dependent runs even in that case.
public protocol GraphInput<Value>: Sendable {
    /// The type of the value that the dependent receives.
    associatedtype Value: Sendable
    /// The edges from the nodes for which the dependent waits.
    var edges: [GraphEdge] { get }
    /// Returns the value; called when every edge allows the dependent to run.
    func receive() async throws -> Value
}

extension GraphInput {
    /// Returns the input that combines this value with another one.
    public func and<Other: GraphInput>(_ other: Other) -> DerivedInput<(Value, Other.Value)> {
        DerivedInput(edges: edges + other.edges) { (try await receive(), try await other.receive()) }
    }
}

/// An edge from a node to its dependent.
public struct GraphEdge: Sendable {
    let step: GraphStep
    let kind: EdgeKind
}

/// A node of a graph, which is also the input that receives its value.
///
/// A dependent runs when the node has succeeded, and fails if the node fails or is cancelled.
public struct GraphNode<Output: Sendable>: GraphInput {
    let step: TypedStep<Output>

    /// The name with which the node was added.
    public var name: String { step.name }

    /// The edge that lets the dependent run only after success.
    public var edges: [GraphEdge] { [GraphEdge(step: step, kind: .plain)] }

    /// Returns the value that the node produced.
    public func receive() async throws -> Output { try step.result.get() }

    /// An input that receives the node's value or its error, so that the dependent runs in either case.
    public var always: DerivedInput<Result<Output, BackplaneError>> {
        DerivedInput(edges: [GraphEdge(step: step, kind: .always)]) { [step] in step.result }
    }

    /// Returns an input that receives the node's value, or a replacement that a function derives from its error.
    ///
    /// The function is called just before the dependent runs, and the dependent fails if it throws an error. It is
    /// called for a node that failed, was cancelled, or was not run.
    public func recover(
        _ fallback: @escaping @Sendable (BackplaneError) async throws -> Output
    ) -> DerivedInput<Output> {
        DerivedInput(edges: [GraphEdge(step: step, kind: .recover)]) { [step] in
            switch step.result {
            case .success(let value): value
            case .failure(let error): try await fallback(error)
            }
        }
    }
}

/// An input that is derived from nodes: a combination, an outcome, or a value with a replacement.
public struct DerivedInput<Value: Sendable>: GraphInput {
    /// The edges of all nodes.
    public let edges: [GraphEdge]
    private let value: @Sendable () async throws -> Value

    init(edges: [GraphEdge], _ value: @escaping @Sendable () async throws -> Value) {
        (self.edges, self.value) = (edges, value)
    }

    /// Returns the value that is derived from the values of the nodes.
    public func receive() async throws -> Value { try await value() }
}

extension DerivedInput<Void> {
    /// The empty input, for a node that waits for no other node.
    public static var none: Self { Self(edges: []) {} }
}

/// All nodes of a graph, in the order in which they were added.
///
/// The number of a node is its index here and in the tables of the scheduler.
final class StepStore: @unchecked Sendable {  // written while the graph is built, and only read afterwards
    var steps: [GraphStep] = []

    // Inlined by hand into `GraphBuilder.insert`, this crashes the compiler of Swift 6.3.1 under ThreadSanitizer.
    func add(_ step: GraphStep) { steps.append(step) }

    func contains(_ step: GraphStep) -> Bool {
        let index = Int(step.index)
        return index < steps.count && steps[index] === step
    }

    // The code of a node retains its inputs. Without this, a chain of nodes would be released recursively, with a stack
    // as deep as the chain.
    deinit { for step in steps { step.dropBody() } }
}

/// The code of a node, its result, and its engine's data about it.
///
/// `@unchecked`: mutable properties belong to one engine, which writes them under its lock; a dependent that reads a
/// result begins under the same lock after it was written.
class GraphStep: @unchecked Sendable {
    final let name: String
    final let index: Int32
    /// The options of the node, or nothing: most nodes have none, and options are large.
    private final let kept: [NodeOptions]
    /// The error of the node, if its code failed, or if a dependent is to receive the error.
    final var failure: (any Error)?
    /// A Boolean value that indicates whether ``failure`` is the error that dependents receive.
    final var isFailureKnown = false
    /// The status of the last attempt that counted.
    final var status = NodeStatus(attempt: 0)
    /// The task that runs the node's attempt.
    final var worker: Worker?

    init(_ name: String, _ index: Int, _ options: NodeOptions?) {
        (self.name, self.index, kept) = (name, Int32(index), options.map { [$0] } ?? [])
    }

    final var options: NodeOptions? { kept.first }

    var hasHandlers: Bool { false }

    /// Runs an attempt and reports its end.
    ///
    /// - Returns: The node to start instead of this one.
    nonisolated(nonsending) func attempt(_ number: UInt16, on engine: GraphEngine) async -> ReadyNode? { nil }

    /// Calls the handlers of the final outcome; must not be called under the lock.
    func settle() {}

    /// Releases the node's code and, with it, the inputs.
    func dropBody() {}
}

/// A node whose value has a known type.
final class TypedStep<Output: Sendable>: GraphStep, @unchecked Sendable {  // as its superclass
    typealias Body = @Sendable (inout NodeStatus, GraphEngine) async throws -> Output
    typealias Handler = @Sendable (Result<Output, BackplaneError>, NodeStatus) -> Void

    var value: Output?
    /// The functions that are called at the end of the node, before its dependents start.
    var handlers: [Handler] = []
    private var body: Body?

    init(_ name: String, _ index: Int, _ options: NodeOptions?, _ body: @escaping Body) {
        self.body = body
        super.init(name, index, options)
    }

    override var hasHandlers: Bool { !handlers.isEmpty }

    /// The result of a node that has ended.
    var result: Result<Output, BackplaneError> {
        if let failure { return .failure(BackplaneError(thrown: failure)) }
        guard let value else {
            return .failure(BackplaneError(.operationUnsatisfied, "`\(name)` has not ended, and has no result"))
        }
        return .success(value)
    }

    override nonisolated(nonsending) func attempt(_ number: UInt16, on engine: GraphEngine) async -> ReadyNode? {
        var status = NodeStatus(attempt: Int(number))
        // Only an abandoned attempt can find none.
        guard let body else { return engine.report(self, status, .failure(CancellationError())) }
        do {
            let value = try await body(&status, engine)
            // If the first of two attempts was abandoned, both may still read it concurrently.
            if options?.timeout == nil { self.body = nil }
            return engine.report(self, status, .success(value))
        } catch {
            return engine.report(self, status, .failure(error))
        }
    }

    override func settle() {
        for handler in handlers { handler(result, status) }
    }

    override func dropBody() { body = nil }
}
