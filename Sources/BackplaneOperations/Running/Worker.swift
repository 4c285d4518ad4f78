import Synchronization

/// A node that the queue has allowed to start.
struct ReadyNode: Sendable {
    let engine: GraphEngine
    let node: Int
    /// The number of the attempt, if it has already started.
    var attempt: UInt16?
}

/// A task that runs nodes one after another until none is left.
///
/// It runs no node after an abandoned one, because its task is then cancelled.
final class Worker: Sendable {
    /// The number of nodes after which the worker yields, because nodes that never wait would otherwise occupy a
    /// thread.
    private static let turn = 256

    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())

    /// Starts a worker, which inherits nothing from the current task.
    static func start(_ first: ReadyNode) {
        let worker = Worker()
        let task = Task.detached { await worker.run(first) }
        let isCancelled = worker.state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func run(_ first: ReadyNode) async {
        var next: ReadyNode? = first, count = 0
        while let node = next {
            count += 1
            if count % Self.turn == 0 { await Task.yield() }
            next = await node.engine.run(node, on: self)
        }
    }

    /// Cancels the task of an abandoned node.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
