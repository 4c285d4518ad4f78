import Synchronization

/// The tasks and timers that a component started for itself and that end with it.
///
/// A `suspend` pauses the timers (``every(_:jitter:name:limit:_:)``, ``after(_:name:limit:_:)``) and does not stop the
/// tasks, because only the component knows which of them must not run: it has to pause tasks that change state carried
/// over by a swap. When a swap has replaced an instance, the tasks of the old one are cancelled on its release.
public final class ComponentTasks: Sendable {
    private struct State {
        var isStopped = false
        var next: UInt64 = 0
        // An array: a dictionary would make the runtime search every loaded image for `Hashable`.
        var running: [(id: UInt64, task: Task<Void, Never>)] = []

        mutating func ended(_ id: UInt64) {
            if let index = running.lastIndex(where: { $0.id == id }) { running.remove(at: index) }
        }
    }
    private let state = Mutex(State())
    /// The host's timers; `nil` if there is no host or it does not offer them.
    let timers: HostTimers?

    init(_ timers: HostTimers?) { self.timers = timers }

    package convenience init() { self.init(nil) }

    /// Starts a task that is cancelled when the component stops.
    ///
    /// Does nothing once the component has stopped.
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

    /// Cancels all running tasks and waits for them to end.
    func stop() async {
        for task in cancel() { await task.value }
    }

    /// Cancels all running tasks and returns them.
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
