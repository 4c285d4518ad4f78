import Backplane
import BackplaneBoundary

/// A timer on a separate thread, so that deadlines expire even while plugins occupy every other thread.
///
/// One thread waits; each action runs on a separate thread, because it may call a plugin's function and block. If no
/// thread can be created, Swift's pool waits instead, and actions run on the waiting thread.
final class DeadlineTimer: Sendable {
    private struct State {
        var entries: [UInt64: (deadline: Deadline, action: @Sendable () -> Void)] = [:]
        /// The pending deadlines, earliest last. Cancelled entries are dropped when they are due, or once they are in
        /// the majority.
        var queue: [(deadline: Deadline, id: UInt64)] = []
        var isRunning = false
        var isRetired = false
    }
    private let state = Monitor(State())

    /// Runs `action` at the deadline unless `cancel(id)` is called first.
    func schedule(_ id: UInt64, at deadline: Deadline, _ action: @escaping @Sendable () -> Void) {
        // The thread waits for the earliest deadline: a later one, as most are, need not wake it.
        let needsThread = state.withLock(waking: { state in
            state.entries[id] = (deadline, action)
            let index = state.queue.firstIndex(from: deadline), isNext = index == state.queue.count
            state.queue.insert((deadline, id), at: index)
            defer { state.isRunning = true }
            return (!state.isRunning, wakes: isNext)
        })
        if needsThread { _ = startThread() }
    }

    /// Starts the thread ahead of the first deadline, or returns `false` if it cannot be created.
    func begin() -> Bool {
        let needsThread = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        return !needsThread || startThread()
    }

    /// Starts the thread or, if that fails, waits on Swift's pool; the next scheduling tries again.
    private func startThread() -> Bool {
        if HostThread.tryStart("bp-deadlines", { self.run() }) { return true }
        let deadlines = state.withLock { state in
            state.isRunning = false
            return state.entries.mapValues { $0.deadline }
        }
        for (id, deadline) in deadlines {
            Task.detached {
                try? await Task.sleep(for: .nanoseconds(max(0, deadline.nanoseconds - Deadline.now.nanoseconds)))
                self.state.withLock { $0.entries.removeValue(forKey: id) }?.action()
            }
        }
        return false
    }

    func cancel(_ id: UInt64) {
        // The thread finds out at the deadline, unless it may end before.
        state.withLock(waking: { state in
            guard state.entries.removeValue(forKey: id) != nil else { return ((), wakes: false) }
            if state.queue.count > 64, state.queue.count > 2 * state.entries.count {
                state.queue.removeAll { state.entries[$0.id] == nil }
            }
            return ((), wakes: state.isRetired)
        })
    }

    /// Polls until the condition holds; returns `false` if it does not hold within the limit.
    func waits(_ limit: Duration, for isThere: () -> Bool) async -> Bool {
        let deadline = Deadline.now + limit
        while !isThere() {
            guard Deadline.now < deadline else { return false }
            await pause(.milliseconds(1))
        }
        return true
    }

    /// Suspends the task for a duration without occupying a thread.
    func pause(_ duration: Duration) async {
        await withUnsafeContinuation { continuation in
            schedule(Callbacks.newID(), at: .now + duration) { continuation.resume() }
        }
    }

    /// Lets the thread end once nothing is scheduled.
    func retire() {
        state.withLock { $0.isRetired = true }
    }

    private func run() {
        while let action = next() {
            if !HostThread.launch(action) { action() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.wait { state in
            while let (deadline, id) = state.queue.last {
                guard let entry = state.entries[id] else {
                    state.queue.removeLast()
                    continue
                }
                guard deadline <= .now else { return .until(deadline) }
                state.queue.removeLast()
                state.entries[id] = nil
                return .done(entry.action)
            }
            guard state.isRetired else { return .until(nil) }
            state.isRunning = false
            return .done(nil)
        }
    }
}

extension Array where Element == (deadline: Deadline, id: UInt64) {
    /// Returns the index at which to insert a deadline into a queue sorted latest first.
    fileprivate func firstIndex(from deadline: Deadline) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
