import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// A call of 14 seconds, four callers, and a swap that must keep none of them waiting for it.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct LongCallStressTests {
    private static let length = Duration.seconds(14)

    private final class LongestCall: Sendable {
        private let state = Mutex(Duration.zero)
        var duration: Duration { state.withLock(\.self) }

        func measure<Value>(_ call: () async throws -> Value) async rethrows -> Value {
            let began = ContinuousClock.now
            let value = try await call()
            let duration = ContinuousClock.now - began
            state.withLock { $0 = max($0, duration) }
            return value
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `nobody waits longer than the drain allows, and the swap comes once the call has ended`(lanes: LaneRule)
        async throws
    {
        let begun = Recording<Bool>()
        let sleeper = CounterScript(act: { counter, _, _ in
            begun.add(true)
            try await Task.sleep(for: Self.length)
            return "\(counter.script.edition)"
        })
        let counters = try CounterHost(lanes: lanes, script: sleeper) { $0.clock = nil },
            counter = try await counters.counter()
        let callers = (0..<4).map { _ in Callers() }, longest = LongestCall(), total = Mutex(0)
        let began = ContinuousClock.now
        let long = Task { try await counter.act("") }
        try await begun.until { $0.count == 1 }
        for caller in callers {
            // Each counts its own calls, since the sums of the others are between two of its own.
            let own = Mutex(0)
            caller.begin {
                _ = try await longest.measure { try await counter.add(1) }
                total.withLock { $0 += 1 }
                return own.withLock {
                    $0 += 1
                    return $0
                }
            }
        }
        // The default of a server: 200 ms, and then later.
        let report = try await counters.swap(CounterScript(edition: 2), SwapOptions())
        #expect(report.outcome == .swapped)
        #expect(ContinuousClock.now - began >= Self.length, "the call ended on the code that it began on")
        #expect(try await long.value == "1")
        for caller in callers { #expect(await caller.end() == []) }
        #expect(try await counter.edition() == 2)
        #expect(try counter.sumNow() == total.withLock(\.self), "nothing was lost")
        // The drain, and what four callers and a swap take from one another on two processors.
        #expect(longest.duration < .milliseconds(200) + .seconds(1), "\(longest.duration)")
        await counters.host.stop()
    }
}
