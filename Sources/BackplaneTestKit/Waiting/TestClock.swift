package import Backplane
package import BackplaneHost
public import FoundationEssentials

/// A clock that stands still until a test advances it, so that no test waits for real time.
///
/// A ``TestHost`` measures everything by its clock (``TestHost/clock``): the deadlines of calls, the limits of steps,
/// drains and stops, probations, the timers of components, and the limits and retries of exchanges. `Date.now` is not
/// affected. The SDK provides no clock to components, so a component accesses this clock through a wire to a contract
/// that returns the time:
///
/// ```swift
/// let clock = TestClock()
/// let time = Fake(WallTime.self) { $0.sync(\.now) { _, _ in clock.date } }
/// ```
///
/// Code that accepts `some Clock<Duration>` can use the clock directly.
///
/// Timers fire while ``run(for:)`` advances the clock. To let a limit or the delay of a retry pass, wait until
/// something waits for it:
///
/// ```swift
/// async let answer = slow.search("moby", host.begin(within: .seconds(60)))
/// try await host.clock.expire(.seconds(60))           // the call has ended with `call.deadline`
/// ```
///
/// Timers have no jitter, and the delays of retries are not random: they are `RetryPolicy.base`, doubled each time.
public final class TestClock: Clock {
    /// A moment of one clock, as the time since the clock's creation.
    public struct Instant: InstantProtocol {
        /// The time since the clock's creation.
        public var offset: Duration

        /// Creates a moment.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// Returns the moment that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from this moment to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Compares two moments of one clock.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct State: Sendable {
        var now = Instant()
        var sleepers: [UInt64: Instant] = [:]
        var nextID: UInt64 = 0
        /// The actions of limits, deadlines and timers, by id.
        var alarms: [UInt64: Alarm] = [:]
        /// The number of running timer bodies, and of actions that are running.
        var bodies = 0

        var sleeping: Int { sleepers.values.count { $0 > now } }
        func nextWaking(until limit: Instant) -> Instant? {
            (Array(sleepers.values) + alarms.values.map(\.moment)).filter { $0 > now && $0 <= limit }.min()
        }
    }
    struct Alarm: Sendable {
        var moment: Instant
        var action: @Sendable () -> Void
    }
    private let state = WatchedState(State())
    private let start: Date
    /// The time of the clock's creation, which is the clock's initial moment.
    private let origin = Deadline.now
    package let polls = SystemClock()

    /// Creates a clock that stands still at its initial moment.
    ///
    /// - Parameter start: The initial ``date``. Default: the reference date, 2001-01-01 00:00 UTC.
    public init(startingAt start: Date = Date(timeIntervalSinceReferenceDate: 0)) { self.start = start }

    /// The clock's current moment.
    public var now: Instant { state.value.now }

    /// The calendar time, which advances with ``now``.
    public var date: Date { start.addingTimeInterval(now.offset / .seconds(1)) }

    /// The resolution of the clock: zero.
    public var minimumResolution: Duration { .zero }

    /// Advances the clock, and resumes the sleeping tasks and starts the timers' bodies that are due, earliest first.
    ///
    /// The order in which resumed tasks run is not defined. If the order matters, or a timer repeats, advance step by
    /// step and wait for ``sleepers(_:)`` in between, because a task that sleeps again does so from the clock's current
    /// moment. A negative duration does nothing.
    public func advance(by duration: Duration) {
        advance(to: now.advanced(by: duration))
    }

    /// Advances the clock to a moment, as ``advance(by:)`` does.
    public func advance(to moment: Instant) {
        var isThere = false
        while !isThere {
            isThere = state.change { state in
                let waking = state.nextWaking(until: moment)
                state.now = max(state.now, waking ?? moment)
                return waking == nil
            }
            ring()
        }
    }

    /// Advances the clock from each timer's due time to the next, waiting at each until the started bodies have ended.
    ///
    /// ```swift
    /// try await host.clock.run(for: .seconds(90))         // a timer of 30 seconds has fired three times
    /// ```
    ///
    /// Sleeping tasks are resumed as by ``advance(by:)``. Timers have no jitter. For a body that does not end, use
    /// ``advance(by:)``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func run(for duration: Duration) async throws {
        let end = now.advanced(by: duration)
        // Earlier bodies, such as the timer bodies of an instance that has just begun to serve.
        try await state.wait { $0.bodies == 0 }
        while let next = state.value.alarms.values.map(\.moment).filter({ $0 <= end }).min() {
            advance(to: max(next, now))
            try await state.wait { $0.bodies == 0 }
        }
        advance(to: end)
        try await state.wait { $0.bodies == 0 }
    }

    /// Waits until something waits for a moment exactly `duration` later: a limit, a deadline, a timer or a sleeping
    /// task.
    ///
    /// - Parameters:
    ///   - count: The number of waiting limits, deadlines, timers and tasks.
    ///   - duration: The time that remains for each of them.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func waiters(_ count: Int = 1, for duration: Duration) async throws {
        try await state.wait { state in
            let moment = state.now.advanced(by: duration)
            return state.sleepers.values.count { $0 == moment } + state.alarms.values.count { $0.moment == moment }
                >= count
        }
    }

    /// Waits until something waits for exactly `duration`, as ``waiters(_:for:)`` does, and advances the clock by it.
    ///
    /// - Parameters:
    ///   - duration: The time that remains for each of them, and by which the clock advances.
    ///   - count: The number of waiting limits, deadlines, timers and tasks.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func expire(_ duration: Duration, waiters count: Int = 1) async throws {
        try await waiters(count, for: duration)
        advance(by: duration)
    }

    /// The number of waiting limits, deadlines and timers.
    package var pending: Int { state.value.alarms.count }

    /// Starts the due actions.
    private func ring() {
        let due = state.change { state in
            let due = state.alarms.filter { $0.value.moment <= state.now }
            for id in due.keys { state.alarms[id] = nil }
            state.bodies += due.count
            return due.values.sorted { $0.moment < $1.moment }
        }
        for alarm in due {
            alarm.action()
            state.change { $0.bodies -= 1 }
        }
    }

    /// Waits until the clock reaches a moment.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.change { state in
            state.nextID += 1
            state.sleepers[state.nextID] = deadline
            return state.nextID
        }
        defer { state.change { $0.sleepers[id] = nil } }
        try await state.wait { $0.now >= deadline }
    }

    /// Waits until at least `count` tasks are sleeping on this clock.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func sleepers(_ count: Int = 1) async throws {
        try await state.wait { $0.sleeping >= count }
    }
}

/// The conversion of the clock's moments to a host's deadlines, which begin at the time of the clock's creation.
extension TestClock: HostClock {
    package var moment: Deadline { origin + now.offset }
    package var hasJitter: Bool { false }

    package func schedule(_ id: UInt64, at moment: Deadline, _ action: @escaping @Sendable () -> Void) {
        let alarm = Alarm(moment: Instant(offset: moment - origin), action: action)
        let isDue = state.change { state in
            guard alarm.moment <= state.now else {
                state.alarms[id] = alarm
                return false
            }
            state.bodies += 1
            return true
        }
        guard isDue else { return }
        polls.schedule(id, at: .now) {
            action()
            self.state.change { $0.bodies -= 1 }
        }
    }

    package func cancel(_ id: UInt64) { state.change { $0.alarms[id] = nil } }
    package func bodyBegins() { state.change { $0.bodies += 1 } }
    package func bodyEnded() { state.change { $0.bodies -= 1 } }
}
