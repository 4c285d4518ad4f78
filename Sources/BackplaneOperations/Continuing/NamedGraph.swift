public import Backplane
import Synchronization

/// A kind of graph that a swap does not end: its waiting nodes continue in newer code; completed ones do not repeat.
///
/// ``GraphQueue/define(_:_:)`` creates it, in the component's `init`, so that it exists in newer code before the swap:
///
/// ```swift
/// init(_ context: Context) throws {
///     synchronising = try context.operations.define("synchronise") { since in
///         try Self.synchronise(since, context.http)
///     }
/// }
/// ```
///
/// Only one graph of a kind runs at a time. Inputs, and the results of all nodes, are `Codable`.
public final class NamedGraph<Input: Codable & Sendable, Output: Sendable>: Sendable {
    private struct State {
        var run: GraphRun<Output>?
        var isStarting = false
    }
    /// The name, which identifies the definition in newer code.
    public let name: String
    private let queue: GraphQueue
    private let build: @Sendable (Input) throws -> OperationGraph<Output>
    private let number = Mutex<UInt64>(0)
    private let state = Mutex(State())

    init(
        _ name: String, in queue: GraphQueue, _ build: @escaping @Sendable (Input) throws -> OperationGraph<Output>
    ) {
        (self.name, self.queue, self.build) = (name, queue, build)
    }

    /// The graph that was started most recently, in this code or in older code; `nil` if there is none.
    ///
    /// If this code could not continue the graph of older code, the run fails with the reason.
    public var run: GraphRun<Output>? { state.withLock(\.run) }

    /// Builds a graph from an input, and starts it in the queue.
    ///
    /// - Throws: `operation.refused` if a graph of this kind runs, the result of a node is not `Codable`, or the input
    ///   cannot be encoded; the error of the function that builds the graph.
    @discardableResult
    public func start(_ input: Input) throws(BackplaneError) -> GraphRun<Output> {
        try claim()
        defer { state.withLock { $0.isStarting = false } }
        let text = String(decoding: try JSON.encode(input, failing: .operationRefused), as: UTF8.self)
        let run = try prepare(input, text, continuing: 0)
        run.begin()
        guard !run.engine.state.withLock(\.hasLeft) else { throw occupied }
        state.withLock { $0.run = run }
        return run
    }

    private func claim() throws(BackplaneError) {
        let isFree = state.withLock { state in
            guard !state.isStarting, state.run?.engine.isOver ?? true else { return false }
            state.isStarting = true
            return true
        }
        guard isFree else { throw occupied }
    }

    private var occupied: BackplaneError {
        BackplaneError(
            .operationRefused, "a graph `\(name)` is already running; wait for it to end, or cancel it", at: name)
    }

    private func prepare(_ input: Input, _ text: String, continuing number: UInt64)
        throws(BackplaneError) -> GraphRun<Output>
    {
        let graph: OperationGraph<Output>
        do { graph = try build(input) } catch { throw BackplaneError(thrown: error) }
        if let step = graph.store.steps.first(where: { !$0.isCodable }) {
            throw BackplaneError(
                .operationRefused,
                "the result of `\(step.name)`, a `\(step.valueType)`, is not Codable, so it cannot cross a swap; make it "
                    + "Codable, or start the graph without a definition", at: name)
        }
        let naming = GraphNaming(
            definition: self.number.withLock(\.self), continues: number, input: text,
            result: Int(graph.result.step.index))
        return queue.prepare(graph, naming)
    }

    // MARK: Newer code

    /// Registers the definition with the host.
    func register(with host: HostGraphs) throws(BackplaneError) {
        let definition = GraphDefinition(name) { number, saved throws(BackplaneError) in
            try self.resume(number, saved)
        }
        guard let number = host.define(definition) else {
            throw BackplaneError(
                .operationRefused,
                "the host refuses the definition of the graph `\(name)`; a name must have 1 to 128 bytes, and be unique "
                    + "in the component", at: name)
        }
        self.number.withLock { $0 = number }
    }

    /// Continues a graph that older code has saved.
    ///
    /// - Throws: `operation.changed`, with the differences in this code.
    private func resume(_ number: UInt64, _ saved: [UInt8]) throws(BackplaneError) {
        let record: GraphRecord, input: Input
        do throws(BackplaneError) {
            record = try JSON.decode(GraphRecord.self, saved, failing: .operationChanged)
            input = try JSON.decode(Input.self, Array(record.input.utf8), failing: .operationChanged)
        } catch {
            throw BackplaneError(
                .operationChanged, "the input of `\(name)` has changed: \(error.message)", at: name, causes: [error])
        }
        let run = try prepare(input, record.input, continuing: number)
        state.withLock { $0.run = run }
        do throws(BackplaneError) {
            try run.engine.take(record)
        } catch {
            run.engine.fail(error)
            throw error
        }
        run.begin()
    }
}

extension NamedGraph where Input == Nothing {
    /// Builds a graph, and starts it in the queue.
    ///
    /// - Throws: The errors of ``start(_:)``.
    @discardableResult
    public func start() throws(BackplaneError) -> GraphRun<Output> { try start(Nothing()) }
}

extension GraphQueue {
    /// Defines a kind of graph that continues in newer code after a swap.
    ///
    /// Newer code must define a graph of the same name in its `init`, whose nodes have the same names and edges.
    /// Otherwise the swap is refused, or the graph fails with an error that lists the changes. In a queue that belongs
    /// to no component, such graphs behave like all others.
    ///
    /// - Parameters:
    ///   - name: The name, unique in the component and at most 128 bytes long.
    ///   - build: A function that builds a graph from its input. It is also called by newer code, so what it builds
    ///     must depend on nothing else.
    /// - Throws: `operation.refused` if the host refuses the name.
    public func define<Input: Codable & Sendable, Output: Sendable>(
        _ name: String, _ build: @escaping @Sendable (Input) throws -> OperationGraph<Output>
    ) throws(BackplaneError) -> NamedGraph<Input, Output> {
        let graph = NamedGraph(name, in: self, build)
        if let host { try graph.register(with: host) }
        return graph
    }

    /// Defines a kind of graph without an input that continues in newer code after a swap.
    ///
    /// - Throws: `operation.refused` if the host refuses the name.
    public func define<Output: Sendable>(
        _ name: String, _ build: @escaping @Sendable () throws -> OperationGraph<Output>
    ) throws(BackplaneError) -> NamedGraph<Nothing, Output> {
        try define(name) { (_: Nothing) in try build() }
    }
}
