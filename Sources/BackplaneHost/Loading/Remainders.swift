/// The remainders of the copies in a load folder, and the thread that copies them, one after the other.
final class Remainders: Sendable {
    private struct State {
        /// By the paths of the copies.
        var known: [String: LibraryRemainder] = [:]
        /// Those that are to be filled.
        var queue: [LibraryRemainder] = []
        var isRunning = false
        var isStopped = false
    }
    private let state = Monitor(State())

    func add(_ remainder: LibraryRemainder) {
        state.withLock { $0.known[remainder.copy] = remainder }
    }

    /// Fills the remainder of a copy as soon as those before it are filled; where the system gives no thread, never.
    func fill(_ copy: String) {
        let needsThread = state.withLock { state in
            guard !state.isStopped, let remainder = state.known[copy] else { return false }
            state.queue.append(remainder)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if needsThread, !HostThread.tryStart("bp-symbols", { self.run() }) { state.withLock { ($0.isRunning, $0.queue) = (false, []) } }
    }

    /// Gives up the remainder of a copy.
    func drop(_ copy: String) {
        take(copy)?.drop()
    }

    /// Fills no more.
    func stop() {
        state.withLock { ($0.isStopped, $0.known, $0.queue) = (true, [:], []) }
    }

    /// Waits until there is nothing left to fill.
    func waitUntilIdle() {
        state.wait { $0.isRunning ? .until(nil) : .done(()) }
    }

    private func take(_ copy: String) -> LibraryRemainder? {
        state.withLock { state in
            state.queue.removeAll { $0.copy == copy }
            return state.known.removeValue(forKey: copy)
        }
    }

    private func run() {
        while let remainder = next() {
            remainder.fill { self.state.withLock { !$0.isStopped } }
        }
    }

    private func next() -> LibraryRemainder? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.queue.removeFirst()
        }
    }
}
