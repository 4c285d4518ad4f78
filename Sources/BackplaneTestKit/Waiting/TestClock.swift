public import FoundationEssentials

/// A clock that stands still until a test moves it: no test waits for real time.
///
/// It controls what is told the time by it, and nothing else: neither the host's own deadlines nor `Date.now`. A component is not
/// given a clock, so it gets this one as it would get any other, through a wire to a contract that tells the time:
///
/// ```swift
/// let clock = TestClock()
/// let time = Fake(WallTime.self) { $0.sync(\.now) { _, _ in clock.date } }
/// ```
///
/// Code that takes `some Clock<Duration>` is given the clock itself.
public final class TestClock: Clock {
    /// A moment of one clock, by how long it is after that clock was made.
    public struct Instant: InstantProtocol {
        public var offset: Duration

        public init(offset: Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct State: Sendable {
        var now = Instant()
        var sleepers: [UInt64: Instant] = [:]
        var nextID: UInt64 = 0

        var sleeping: Int { sleepers.values.count { $0 > now } }
        func nextWaking(until limit: Instant) -> Instant? { sleepers.values.filter { $0 > now && $0 <= limit }.min() }
    }
    private let state = WatchedState(State())
    private let start: Date

    /// - Parameter start: what ``date`` is at first. Default: the reference date, 2001-01-01 00:00 UTC.
    public init(startingAt start: Date = Date(timeIntervalSinceReferenceDate: 0)) { self.start = start }

    public var now: Instant { state.value.now }

    /// The calendar's time, which goes with ``now``.
    public var date: Date { start.addingTimeInterval(now.offset / .seconds(1)) }

    public var minimumResolution: Duration { .zero }

    /// Moves the clock, and wakes who slept until then, the earliest first; in which order they then run is Swift's affair.
    ///
    /// Where the order matters, and for a timer that repeats, advance step by step and wait for ``sleepers(_:)`` between: who
    /// sleeps again sleeps from where the clock is by then. A negative duration moves nothing.
    public func advance(by duration: Duration) {
        advance(to: now.advanced(by: duration))
    }

    public func advance(to moment: Instant) {
        var isThere = false
        while !isThere {
            isThere = state.change { state in
                let waking = state.nextWaking(until: moment)
                state.now = max(state.now, waking ?? moment)
                return waking == nil
            }
        }
    }

    /// - Throws: `CancellationError` when the task is cancelled before the clock gets there.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.change { state in
            state.nextID += 1
            state.sleepers[state.nextID] = deadline
            return state.nextID
        }
        defer { state.change { $0.sleepers[id] = nil } }
        try await state.wait { $0.now >= deadline }
    }

    /// Waits until so many sleep by this clock.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func sleepers(_ count: Int = 1) async throws {
        try await state.wait { $0.sleeping >= count }
    }
}
