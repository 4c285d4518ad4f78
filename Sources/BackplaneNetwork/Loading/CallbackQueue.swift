import Synchronization

/// The due callbacks of one load, which run one after another, each on its executor.
final class CallbackQueue: Sendable {
    private struct State {
        var due: [(executor: CallbackExecutor, work: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = Mutex(State())

    /// Adds a callback after all others.
    func add(_ executor: CallbackExecutor, _ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            state.due.append((executor, work))
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    private func run() async {
        while true {
            let due = state.withLock { state in
                defer { state.due = [] }
                state.isRunning = !state.due.isEmpty
                return state.due
            }
            if due.isEmpty { return }
            for (executor, work) in due { await executor.run(work) }
        }
    }
}
