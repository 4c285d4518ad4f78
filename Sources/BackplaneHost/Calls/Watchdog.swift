import Backplane
import Synchronization

/// A watchdog that logs when Swift's thread pool is occupied, and which components may be the cause.
///
/// Plugin code that computes or blocks occupies a thread of the pool, which has only as many threads as there are
/// processors, so a few such calls stop every task. The watchdog is therefore a thread rather than a task. It puts
/// small probes into the pool at intervals, and reports the components with calls in flight when a probe does not start
/// in time.
final class Watchdog: Sendable {
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

    /// Creates a watchdog.
    ///
    /// - Parameter limit: The time that a probe may wait before the pool is considered occupied.
    init(limit: Duration, log: any LogSink) { (self.limit, self.log) = (limit, log) }

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
    func retire() {
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

/// A state machine that determines from probes whether Swift's thread pool is occupied.
///
/// On Linux there is a pool for every priority, each with as many threads as there are processors: one probe is sent to
/// each watched pool. No more than twice the interval between two samples counts as waiting, so that a suspended or
/// overloaded machine is not mistaken for an occupied pool.
struct PoolWatch {
    enum Action: Hashable {
        /// An action that puts a probe into the pool with this number.
        case send(Int)
        /// An action that reports how long a probe has waited.
        case report(waited: Duration)
        /// A report that the pool is free again.
        case over
    }

    /// The time that a probe may wait.
    let limit: Duration
    /// The time between two samples.
    let interval: Duration
    /// The time that each pool's probe has waited, or `nil` if none was sent.
    private var waits: [Duration?]
    private var isReported = false

    init(limit: Duration, pools: Int) {
        self.limit = limit
        interval = min(.milliseconds(250), limit / 4)
        waits = Array(repeating: nil, count: pools)
    }

    /// Takes a sample and returns the actions to perform.
    ///
    /// - Parameters:
    ///   - elapsed: The time since the last sample.
    ///   - hasBegun: A function that returns whether the probe of the pool with this number has started.
    mutating func look(after elapsed: Duration, hasBegun: (Int) -> Bool) -> [Action] {
        var actions: [Action] = []
        for pool in waits.indices {
            if let wait = waits[pool], !hasBegun(pool) {
                waits[pool] = wait + min(elapsed, interval * 2)
            } else {
                waits[pool] = .zero
                actions.append(.send(pool))
            }
        }
        let longest = waits.compactMap(\.self).max() ?? .zero
        if longest >= limit {
            if !isReported { actions.append(.report(waited: longest)) }
            isReported = true
        } else if isReported {
            isReported = false
            actions.append(.over)
        }
        return actions
    }
}

/// A component whose calls may be occupying Swift's thread pool.
struct WatchedComponent: Sendable {
    /// The component's identity, which stays the same when its instance is replaced.
    let id: ObjectIdentifier
    let name: String
    /// The plugin and its library, such as "org.example.books 1.2.0 (libBooks.so)".
    let plugin: String
    let callsInFlight: @Sendable () -> Int
}

/// The components with calls in flight, any of which may be occupying a pool.
///
/// The start of a call is not recorded, only the first of consecutive samples with calls in flight.
struct PoolCandidates {
    struct Occupant: Equatable {
        var name, plugin: String
        var calls: Int
        var since: Deadline
    }
    private var since: [ObjectIdentifier: Deadline] = [:]

    /// Takes a sample, and returns the components with calls in flight, longest busy first.
    mutating func look(at components: [WatchedComponent], _ now: Deadline) -> [Occupant] {
        let busy = components.map { ($0, $0.callsInFlight()) }.filter { $0.1 > 0 }
        since = Dictionary(busy.map { ($0.0.id, since[$0.0.id] ?? now) }) { first, _ in first }
        let candidates = busy.map { Occupant(name: $0.name, plugin: $0.plugin, calls: $1, since: since[$0.id] ?? now) }
        return candidates.enumerated().sorted { ($0.element.since, $0.offset) < ($1.element.since, $1.offset) }.map(
            \.element)
    }
}

/// The log messages about an occupied pool.
struct PoolReport {
    static let occupied =
        "Swift's thread pool is occupied: tasks of all components and of the host are waiting; candidates are the components with calls in flight"
    static let over = "Swift's thread pool is free again"

    /// The candidates as text, such as "Books of org.example.books 1.2.0 (libBooks.so): 2 calls for 1.5 s; Clock of …".
    let candidates: String

    init(_ candidates: [PoolCandidates.Occupant], at now: Deadline) {
        let parts = candidates.map { candidate in
            "\(candidate.name) of \(candidate.plugin): \(candidate.calls) call\(candidate.calls == 1 ? "" : "s") for \(Self.seconds(now - candidate.since))"
        }
        self.candidates =
            parts.isEmpty
            ? "none: a component or the program itself started the work" : parts.joined(separator: "; ")
    }

    func record(waited: Duration) -> LogRecord {
        LogRecord(
            level: .warning, source: "host", message: Self.occupied,
            metadata: ["candidates": candidates, "waited": Self.seconds(waited)])
    }

    func recordOver(lasted: Duration) -> LogRecord {
        LogRecord(
            level: .warning, source: "host", message: Self.over,
            metadata: ["candidates": candidates, "lasted": Self.seconds(lasted)])
    }

    /// Returns the duration in seconds with one decimal, such as "1.5 s".
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .seconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
