import Synchronization

/// The calls that a gate has admitted after they had waited, and that enter a plugin.
///
/// Whoever opens a gate must not wait for a plugin, so they begin on other threads, in the order of their admission.
/// The number of threads is bounded, since thousands of calls may have waited.
final class AdmittedCalls: Sendable {
    private struct State {
        var calls: [@Sendable () -> Void] = []
        /// The index of the next call.
        var next = 0
        var threads = 0

        /// Takes the next call; ends the thread and returns `nil` if there is none.
        mutating func take() -> (@Sendable () -> Void)? {
            guard next < calls.count else {
                (calls, next, threads) = ([], 0, threads - 1)
                return nil
            }
            next += 1
            return calls[next - 1]
        }
    }
    /// The maximum number of threads.
    private static let most = 16
    private let state = Mutex(State())

    /// Begins a call on another thread; if none can be created, on this one.
    func begin(_ call: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            state.calls.append(call)
            guard state.threads < Self.most else { return false }
            state.threads += 1
            return true
        }
        if isNew, !HostThread.launch({ self.work() }) { work() }
    }

    private func work() {
        while let call = state.withLock({ $0.take() }) { call() }
    }
}
