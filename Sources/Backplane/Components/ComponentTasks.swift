import Synchronization

/// Work that a component started for itself and that ends with it.
///
/// A `suspend` leaves it running, since only the component knows what of it has to be still: a timer that changes the state that a swap
/// carries over is the component's to hold. What runs in an instance that a swap has replaced is cancelled when that is given up.
public final class ComponentTasks: Sendable {
    private struct State {
        var isStopped = false
        var next: UInt64 = 0
        // No dictionary, for which the runtime would look for `Hashable` in all that is loaded.
        var running: [(id: UInt64, task: Task<Void, Never>)] = []

        mutating func ended(_ id: UInt64) {
            if let index = running.lastIndex(where: { $0.id == id }) { running.remove(at: index) }
        }
    }
    private let state = Mutex(State())

    package init() {}

    /// Starts work that is cancelled when the component stops; after that nothing starts any more.
    public func run(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            let id = state.next
            state.next += 1
            let task = Task {
                await work()
                self.state.withLock { $0.ended(id) }
            }
            state.running.append((id, task))
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
            return state.running.map(\.task)
        }
        for task in running { task.cancel() }
        return running
    }
}
