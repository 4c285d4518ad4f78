import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What the log, and the list of generations, say of the worse sides of a swap.
@Suite(.timeLimit(.minutes(5)))
struct SwapLogTests {
    private func records(_ counters: CounterHost, _ message: String) -> [LogRecord] {
        counters.test.log.records.filter { $0.source == "host" && $0.message == message }
    }

    @Test func `an init that never returns is named until it does`() async throws {
        let never = TestGate(), counters = try CounterHost(), counter = try await counters.counter()
        let failure = await error {
            try await counters.test.expiring(.seconds(0.2), once: { try await never.arrivals() }) {
                try await counters.swap(
                    CounterScript(edition: 2, made: { _ in await never.passThoughCancelled() }),
                    ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(0.2)))
            }
        }
        #expect(failure?.message.contains("Counter took longer than 0.2 seconds to be created") == true)
        #expect(try await counter.add(1) == 1)
        let message = "an `init` has not returned; only a restart of the program ends it and frees its thread"
        // The swap fails before it is written.
        await eventually { !records(counters, message).isEmpty }
        let record = try #require(records(counters, message).first)
        #expect(record.level == .error && record.metadata["component"] == "Counter")
        #expect(record.metadata["plugin"] == CounterHost.plugin && record.metadata["version"] == "2.0.0")
        let since = try #require(record.metadata["since"])
        #expect(since.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) != nil, "\(since)")

        let generations = try await counters.host.generations()
        #expect(generations.map(\.state) == [.active, .failed])
        let words = "the `init` of Counter, which has not returned since \(since)"
        #expect(generations.last?.heldBy.first?.hasPrefix(words) == true, "\(String(describing: generations.last))")
        #expect(generations.first?.heldBy == ["active: Counter"], "it is another generation's")
        never.open()
        try await eventually {
            try await counters.host.generations().last?.heldBy.contains { $0.hasPrefix(words) } == false
        }
        await counters.host.stop()
    }
}
