import Backplane
import Synchronization

/// A watchdog that logs when Swift's thread pool is occupied, and which components may be the cause.
///
/// Plugin code that computes or blocks occupies a thread of the pool, which has only as many threads as there are
/// processors, so a few such calls stop every task. The watchdog is therefore a thread rather than a task. It puts
/// small probes into the pool at intervals, and reports the components with calls in flight when a probe does not start
/// in time.
package final class Watchdog: Sendable {
    private struct State {
        var components: [WatchedComponent] = []
        var isRunning = false
        var isRetired = false
    }
    /// A job in the pool, which does not retain any part of the host.
    private final class Probe: Sendable {
        let hasBegun = Atomic<Bool>(false)
    }

    /// The priorities whose pools are watched, except the background priority, whose work may take any amount of time.
    private static let priorities: [TaskPriority] = [.high, .medium, .low]

    private let limit: Duration
    private let log: any LogSink
    private let state = Monitor(State())
    private let looked: @Sendable (Int) -> Void

    /// Creates a watchdog.
    ///
    /// - Parameters:
    ///   - limit: The time that a probe may wait before the pool is considered occupied.
    ///   - looked: A function called after every sample with the number of probes that have started since the previous
    ///     one.
    package init(limit: Duration, log: any LogSink, looked: @escaping @Sendable (_ begun: Int) -> Void = { _ in }) {
        (self.limit, self.log, self.looked) = (limit, log, looked)
    }

    /// Starts the watchdog, without any known components.
    package func start() { start([]) }

    /// Starts or continues the watchdog, with these components as candidates.
    func start(_ components: [WatchedComponent]) {
        let needsThread = state.withLock { state in
            state.components = components
            guard !state.isRunning, !state.isRetired else { return false }
            state.isRunning = true
            return true
        }
        // Without a thread nothing is watched, and everything else works as usual.
        if needsThread, !HostThread.tryStart("bp-watchdog", { self.run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Lets the thread end.
    package func retire() {
        state.withLock { ($0.isRetired, $0.components) = (true, []) }
    }

    private func run() {
        var watch = PoolWatch(limit: limit, pools: Self.priorities.count)
        var probes = Self.priorities.map { _ in Probe() }
        var candidates = PoolCandidates()
        var report: (text: PoolReport, since: Deadline)?
        var last = Deadline.now
        repeat {
            let now = Deadline.now, busy = candidates.look(at: state.withLock { $0.components }, now)
            looked(probes.count { $0.hasBegun.load(ordering: .relaxed) })
            let actions = watch.look(after: now - last) { probes[$0].hasBegun.load(ordering: .relaxed) }
            last = now
            for action in actions {
                switch action {
                case .send(let pool):
                    probes[pool] = Self.send(Self.priorities[pool])
                case .report(let waited):
                    let text = PoolReport(busy, at: now)
                    report = (text, now + (.zero - waited))
                    log.write(text.record(waited: waited))
                case .over:
                    guard let (text, since) = report else { continue }
                    log.write(text.recordOver(lasted: now - since))
                }
            }
        } while pause(watch.interval)
    }

    private static func send(_ priority: TaskPriority) -> Probe {
        let probe = Probe()
        Task.detached(priority: priority) { probe.hasBegun.store(true, ordering: .relaxed) }
        return probe
    }

    /// Waits for a duration; returns `false` if the watchdog is retired.
    private func pause(_ duration: Duration) -> Bool {
        let end = Deadline.now + duration
        return state.wait { state in
            if state.isRetired {
                state.isRunning = false
                return .done(false)
            }
            return Deadline.now >= end ? .done(true) : .until(end)
        }
    }
}
