import Backplane
import Synchronization

/// Work that enters plugins, whose functions may not return, so no thread of the host waits for it.
///
/// The work begins in order on a few threads. If no work begins for a while, because functions do not return, the
/// number of threads is doubled.
final class PluginWork: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        /// The index of the next piece of work.
        var next = 0
        var threads = 0
        /// The index of the next piece of work at the last check for progress.
        var seen = 0
        var isWatched = false

        /// Takes the next piece of work; ends the thread and returns `nil` if there is none.
        mutating func take() -> (@Sendable () -> Void)? {
            guard next < work.count else {
                (work, next, threads) = ([], 0, threads - 1)
                return nil
            }
            next += 1
            return work[next - 1]
        }

        /// Returns the number of threads to add, or `nil` if no work is left.
        mutating func check() -> Int? {
            guard next < work.count else {
                isWatched = false
                return nil
            }
            defer { seen = next }
            guard next == seen else { return 0 }
            let more = min(max(threads, 1), work.count - next)
            threads += more
            return more
        }
    }
    /// The time without progress after which threads are added.
    private static let patience = Duration.milliseconds(10)
    /// The number of threads while work begins.
    private let usual: Int
    private let state = Mutex(State())

    init(threads usual: Int = 16) { self.usual = usual }

    /// Begins work on another thread, or later if none can be created.
    ///
    /// - Parameter clock: The clock that notices whether work begins.
    func begin(by clock: SystemClock, _ work: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            state.work.append(work)
            guard state.threads < usual else { return false }
            state.threads += 1
            return true
        }
        if isNew, addThread() { return }
        let isWatched = state.withLock { state in
            defer { state.isWatched = true }
            return state.isWatched
        }
        if !isWatched { watch(by: clock) }
    }

    private func addThread() -> Bool {
        if HostThread.launch({ while let work = self.state.withLock({ $0.take() }) { work() } }) { return true }
        state.withLock { $0.threads -= 1 }
        return false
    }

    private func watch(by clock: SystemClock) {
        clock.look(at: clock.moment + Self.patience) { [self] in
            guard let more = state.withLock({ $0.check() }) else { return }
            for _ in 0..<more { _ = addThread() }
            watch(by: clock)
        }
    }
}

extension PluginWork {
    /// Ends streams in order without waiting, and then calls a function.
    ///
    /// The end of a stream calls functions of plugins, which may not return, and there may be tens of thousands.
    ///
    /// - Parameters:
    ///   - ends: The functions that end the streams.
    ///   - clock: The clock of the time limit.
    ///   - last: A function to call once the ends have returned, or have not returned for ``endLimit``.
    static func end(
        _ ends: [@Sendable () -> Void], by clock: any HostClock, then last: (@Sendable () -> Void)? = nil
    ) {
        let work = PluginWork(threads: 1), polls = clock.polls, limit = Callbacks.newID()
        guard let last, !ends.isEmpty else {
            for end in ends { work.begin(by: polls, end) }
            last?()
            return
        }
        // The ends that have not returned, until `last` is called.
        let rest = Mutex(ends.count)
        clock.schedule(limit, at: clock.moment + endLimit) {
            let isFirst = rest.withLock { rest in
                defer { rest = 0 }
                return rest > 0
            }
            if isFirst { last() }
        }
        for end in ends {
            work.begin(by: polls) {
                end()
                let isLast = rest.withLock { rest in
                    rest -= 1
                    return rest == 0
                }
                guard isLast else { return }
                last()
                clock.cancel(limit)
            }
        }
    }

    static var endLimit: Duration { .seconds(3) }
}
