import Synchronization

/// Work that a component started for itself and that ends with it.
///
/// A `suspend` leaves it running, since only the component knows what of it has to be still: a timer that changes the state that a swap
/// carries over is the component's to hold. What runs in an instance that a swap has replaced is cancelled when that is given up.
public final class ComponentTasks: Sendable {
    private struct State {
        var isStopped = false
        var next: UInt64 = 0
        var running: [UInt64: Task<Void, Never>] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// Starts work that is cancelled when the component stops; after that nothing starts any more.
    public func run(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            let id = state.next
            state.next += 1
            state.running[id] = Task {
                await work()
                self.state.withLock { _ = $0.running.removeValue(forKey: id) }
            }
        }
    }

    /// Cancels what runs and waits for it to end.
    func stop() async {
        for task in cancel() { await task.value }
    }

    /// Cancels what runs, and gives it.
    @discardableResult
    func cancel() -> [Task<Void, Never>] {
        let running = state.withLock { state in
            state.isStopped = true
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
        return running
    }
}
