public import Backplane
import Synchronization

/// A started graph, which can be awaited, observed and controlled.
///
/// ```swift
/// let run = try catalogue().start()
/// for await event in run.events { show(event) }
/// let report = try await run.value
/// ```
///
/// The graph continues if this value is released.
public struct GraphRun<Output: Sendable>: Sendable {
    let engine: GraphEngine
    let result: GraphNode<Output>

    /// The graph's name, as events and errors show it.
    public var name: String { engine.name }

    // MARK: Results

    /// The value of the graph's result node, once every node has ended.
    ///
    /// Cancelling the waiting task cancels the graph; use ``outcome`` to wait for it without owning it.
    ///
    /// - Throws: The error of the result node: an error of its code; `operation.timeout`; `operation.unsatisfied` with
    ///   its cause; `call.cancelled`.
    public var value: Output {
        get async throws(BackplaneError) {
            await withTaskCancellationHandler {
                await engine.end()
            } onCancel: {
                cancel()
            }
            return try engine.result(of: result.step).get()
        }
    }

    /// The value or the error of the graph's result node, once every node has ended.
    ///
    /// Cancelling the waiting task does not cancel the graph.
    public var outcome: Result<Output, BackplaneError> {
        get async {
            await engine.end()
            return engine.result(of: result.step)
        }
    }

    /// Waits for a node to end, and returns its value or error.
    ///
    /// - Throws: `operation.refused` for a node of another graph.
    public func outcome<Value>(of node: GraphNode<Value>) async throws(BackplaneError) -> Result<Value, BackplaneError>
    {
        await engine.wait(for: try engine.number(of: node.step)) { $0.phase == .ended }
        return engine.result(of: node.step)
    }

    /// Waits until every node has ended and the code of all nodes has returned.
    ///
    /// A node that is cancelled, or whose time limit has passed, ends immediately; its code may take longer.
    public func drained() async { await engine.end(drained: true) }

    // MARK: States

    /// The state changes of the nodes, beginning with their current states and ending with the graph.
    ///
    /// Each use of this property is a subscription of its own. A slow reader does not delay the graph; the changes that
    /// it has not read are kept.
    public var events: AsyncStream<GraphEvent> { engine.subscribe() }

    /// Returns the current state of a node.
    ///
    /// - Throws: `operation.refused` for a node of another graph.
    public func state<Value>(of node: GraphNode<Value>) throws(BackplaneError) -> NodeState {
        let number = try engine.number(of: node.step)
        return engine.state.withLock { $0.scheduler.nodes[number].shown }
    }

    // MARK: Control

    /// Cancels all nodes except pending finish nodes.
    ///
    /// A finish node has only inputs of the kind ``GraphNode/always``; it runs once all other nodes have ended.
    public func cancel() { engine.change { $0.cancelAll() } }

    /// Cancels nodes, which end immediately.
    ///
    /// Their dependents fail, unless they are cancelled as well or their edges let them run.
    ///
    /// - Throws: `operation.refused` for a node of another graph.
    public func cancel(_ choice: GraphSelection) throws(BackplaneError) {
        let nodes = try engine.numbers(of: choice)
        engine.change { $0.cancel(nodes) }
    }

    /// Pauses all nodes that have not ended.
    public func pause() { engine.change { $0.hold($0.nodes.indices) } }

    /// Pauses nodes: waiting nodes do not start, suspendable nodes are suspended, and the results of others are held
    /// back.
    ///
    /// - Throws: `operation.refused` for a node of another graph.
    public func pause(_ choice: GraphSelection) throws(BackplaneError) {
        let nodes = try engine.numbers(of: choice)
        engine.change { $0.hold(nodes) }
    }

    /// Resumes all nodes that are paused.
    public func resume() { engine.change { $0.release($0.nodes.indices) } }

    /// Resumes nodes that are paused.
    ///
    /// - Throws: `operation.refused` for a node of another graph.
    public func resume(_ choice: GraphSelection) throws(BackplaneError) {
        let nodes = try engine.numbers(of: choice)
        engine.change { $0.release(nodes) }
    }
}

/// A change of a node's state.
public struct GraphEvent: Sendable {
    /// The number of the node: nodes are numbered from 0 in the order in which they were added.
    public let node: Int
    /// The name with which the node was added.
    public let name: String
    /// The new state of the node.
    public let state: NodeState
}

/// A selection of a graph's nodes to control.
public struct GraphSelection: Sendable {
    fileprivate enum Extent { case node, needs, dependents }
    fileprivate let step: GraphStep
    fileprivate let extent: Extent

    /// A single node.
    public static func node<Value>(_ node: GraphNode<Value>) -> Self { Self(step: node.step, extent: .node) }

    /// A node with everything it depends on, directly or indirectly.
    public static func needs<Value>(of node: GraphNode<Value>) -> Self { Self(step: node.step, extent: .needs) }

    /// A node with everything that depends on it, directly or indirectly.
    public static func dependents<Value>(of node: GraphNode<Value>) -> Self {
        Self(step: node.step, extent: .dependents)
    }
}

extension GraphEngine {
    fileprivate func numbers(of choice: GraphSelection) throws(BackplaneError) -> [Int] {
        let number = try number(of: choice.step), shape = state.withLock { $0.scheduler.shape }
        return switch choice.extent {
        case .node: [number]
        case .needs: shape.closure(of: number, along: shape.needs)
        case .dependents: shape.closure(of: number, along: shape.dependents)
        }
    }

    fileprivate func number(of step: GraphStep) throws(BackplaneError) -> Int {
        guard store.contains(step) else {
            throw BackplaneError(
                .operationRefused, "`\(step.name)` is a node of another graph; expected one of `\(name)`", at: name)
        }
        return Int(step.index)
    }
}
