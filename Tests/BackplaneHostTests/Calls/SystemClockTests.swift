import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// The system's clock, whose thread is woken only for what concerns it.
@Suite(.timeLimit(.minutes(1)))
struct SystemClockTests {
    private let farAway = Duration.seconds(3_600)

    private func schedule(_ id: UInt64, after delay: Duration, on clock: SystemClock, _ runs: Recording<UInt64>) {
        clock.schedule(id, at: clock.moment + delay) { runs.add(id) }
    }

    @Test func `a time before the one that the thread waits for is met`() async throws {
        let clock = SystemClock(), runs = Recording<UInt64>()
        defer {
            clock.cancel(1)
            clock.retire()
        }
        schedule(1, after: farAway, on: clock, runs)
        schedule(2, after: .milliseconds(20), on: clock, runs)
        schedule(3, after: farAway * 2, on: clock, runs)
        try await runs.until { $0 == [2] }
        schedule(4, after: .milliseconds(1), on: clock, runs)
        try await runs.until { $0 == [2, 4] }
        clock.cancel(3)
    }

    @Test func `an action that is scheduled again runs only at its last time`() async throws {
        let clock = SystemClock(), runs = Recording<UInt64>()
        defer { clock.retire() }
        schedule(1, after: farAway, on: clock, runs)
        schedule(1, after: .milliseconds(1), on: clock, runs)
        try await runs.until { $0 == [1] }
        clock.endPause(1)
        #expect(runs.all == [1], "nothing is left of the earlier time")
    }

    @Test func `the thread of a retired clock ends with the last cancellation`() async throws {
        weak var ended: SystemClock?
        do {
            let clock = SystemClock(), runs = Recording<UInt64>()
            ended = clock
            schedule(1, after: farAway, on: clock, runs)
            schedule(2, after: .milliseconds(5), on: clock, runs)
            try await runs.until { $0 == [2] }
            clock.retire()
            clock.cancel(1)
        }
        await eventually { ended == nil }
    }
}
