import Backplane
import Synchronization

/// All nodes of a graph, in the order in which they were added.
///
/// The number of a node is its index here and in the tables of the scheduler.
final class StepStore: @unchecked Sendable {  // written while the graph is built, and only read afterwards
    var steps: [GraphStep] = []

    // Written out in `GraphBuilder.insert`, it ends the compiler of Swift 6.3.1 under ThreadSanitizer.
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
    private final let keptOptions: KeptOptions?
    /// The error of the node, if its code failed, or if a dependent is to receive the error.
    final var failure: (any Error)?
    /// A Boolean value that indicates whether ``failure`` is the one that dependents receive.
    final var isFailureKnown = false
    /// The task that runs the node's attempt.
    final var worker: Worker?

    init(_ name: String, _ index: Int, _ options: NodeOptions?) {
        (self.name, self.index, keptOptions) = (name, Int32(index), options.map(KeptOptions.init))
    }

    final var options: NodeOptions? { keptOptions?.options }

    var traits: GraphScheduler.Traits { [] }

    /// Runs an attempt and reports its end.
    ///
    /// - Returns: The node to start instead of this one.
    nonisolated(nonsending) func attempt(_ number: UInt16, on engine: GraphEngine) async -> ReadyNode? { nil }

    /// Calls the handlers of the final outcome; must not be called under the lock.
    func settle() {}

    /// Notifies the node's code of whether an attempt is paused.
    nonisolated(nonsending) func notify(_ attempt: UInt16, isPaused: Bool) async {}

    /// Releases the node's code and, with it, the inputs.
    func dropBody() {}
}

/// The options of a node, stored separately because most nodes have none.
private final class KeptOptions: Sendable {
    let options: NodeOptions
    init(_ options: NodeOptions) { self.options = options }
}

/// The status of a node that has returned or failed.
public struct NodeStatus: Sendable {
    /// The number of the attempt, from 1; 0 for a node that was not run.
    public let attempt: Int
    /// The status code of the attempt's last response, such as 200; `nil` without a response.
    public var code: Int?

    init(attempt: Int, code: Int? = nil) { (self.attempt, self.code) = (attempt, code) }
}

/// A node whose value has a known type.
class TypedStep<Output: Sendable>: GraphStep, @unchecked Sendable {  // as its superclass
    typealias Body = @Sendable (inout NodeStatus, GraphQueue) async throws -> Output

    /// The functions that are called at the end of the node, before its dependents start.
    final class Handlers {
        var onSuccess: (@Sendable (Output, NodeStatus) -> Void)?
        var onFailure: (@Sendable (BackplaneError, NodeStatus) -> Void)?
        var status = NodeStatus(attempt: 0)
    }
    final var value: Output?
    final var handlers: Handlers?
    private final var body: Body?

    init(_ name: String, _ index: Int, _ options: NodeOptions?, _ body: @escaping Body) {
        self.body = body
        super.init(name, index, options)
    }

    override var traits: GraphScheduler.Traits { handlers == nil ? [] : .handles }

    /// The result of a node that has ended.
    final var result: Result<Output, BackplaneError> {
        if let failure { return .failure(BackplaneError(thrown: failure)) }
        guard let value else {
            return .failure(BackplaneError(.operationUnsatisfied, "`\(name)` has not ended, and has no result"))
        }
        return .success(value)
    }

    override nonisolated(nonsending) func attempt(_ number: UInt16, on engine: GraphEngine) async -> ReadyNode? {
        var status = NodeStatus(attempt: Int(number))
        // Only an abandoned attempt can find none.
        guard let body else { return engine.failed(self, number, CancellationError()) {} }
        do {
            let value = try await body(&status, engine.queue)
            // If the first of two attempts was abandoned, both may still read it concurrently.
            if options?.timeout == nil { self.body = nil }
            return engine.returned(self, number) {
                (self.value, failure) = (value, nil)
                handlers?.status = status
            }
        } catch {
            return engine.failed(self, number, error) { handlers?.status = status }
        }
    }

    override func settle() {
        guard let handlers else { return }
        switch result {
        case .success(let value): handlers.onSuccess?(value, handlers.status)
        case .failure(let error): handlers.onFailure?(error, handlers.status)
        }
    }

    override func dropBody() { body = nil }
}
