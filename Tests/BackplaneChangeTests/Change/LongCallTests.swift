import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Calls that outlast the drain of a swap.
@Suite(.timeLimit(.minutes(5)))
struct LongCallTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    /// A counter whose `act` waits for the latch of its input, in the given order of inputs.
    private struct Latches: Sendable {
        let latches: [String: TestGate]
        init(_ names: String...) { latches = Dictionary(uniqueKeysWithValues: names.map { ($0, TestGate()) }) }
        subscript(name: String) -> TestGate { latches[name]! }

        func script(_ edition: Int = 1) -> CounterScript {
            CounterScript(
                edition: edition,
                act: { [latches] counter, text, _ in
                    await latches[text]?.passThoughCancelled()
                    return "\(counter.script.edition)"
                })
        }
    }

    private final class ToldProgress: Sendable {
        private let state = Mutex<[ChangeProgress]>([])
        var all: [ChangeProgress] { state.withLock { $0 } }
        func note(_ progress: ChangeProgress) { state.withLock { $0.append(progress) } }
    }

    private static func later(_ attempts: Int = 1_000, within limit: Duration = .seconds(3_600)) -> ChangeOptions {
        ChangeOptions(
            drain: .upTo(.milliseconds(20), then: .retry(attempts: attempts, within: limit)), stepLimit: .seconds(60))
    }

    /// Lets the drain of a swap pass, and waits until the swap waits for long calls.
    private func waits(_ counters: CounterHost) async throws {
        try await counters.test.clock.expire(.milliseconds(20))
        await eventually { waitingSwaps(counters).count == 1 }
    }

    private func records(_ counters: CounterHost, _ message: String) -> [LogRecord] {
        counters.test.log.records.filter { $0.source == "host" && $0.message == message }
    }

    private func waitingSwaps(_ counters: CounterHost) -> [LogRecord] {
        records(counters, "a swap is waiting for long calls")
    }

    // MARK: Later

    @Test(arguments: lanes)
    func `everybody else is served meanwhile, and the swap comes into force once the call has ended`(lanes: LaneRule)
        async throws
    {
        let latches = Latches("long"),
            counters = try CounterHost(
                lanes: lanes, script: latches.script(), others: ["Client": ClientPlugin.manager("Client")],
                linked: [LinkedPlugin(ClientPlugin.self)])
        let counter = try await counters.counter(), client: Remote<Clients> = try await counters.host.manager("Client"),
            gate = try await counters.host.gate(of: "Counter")
        let long = Task { try await client.act("long") }
        try await latches["long"].arrivals()
        let told = ToldProgress()
        let swap = Task { try await counters.swap(latches.script(2), Self.later()) { told.note($0) } }
        try await waits(counters)
        // None of these could return while the gate is held for the call.
        for number in 1...100 { #expect(try await counter.add(1) == number) }
        #expect(try await client.add(1) == 101)
        #expect(try counter.editionNow() == 1)
        let record = waitingSwaps(counters)[0]
        #expect(record.level == .warning && record.metadata["generation"] == "2")
        #expect(record.metadata["calls"]?.contains("1 call of Client through its wire `counter` to Counter") == true)
        #expect(
            try await counters.host.generations().last?.heldBy.first?.hasPrefix(
                "a swap that waits for long calls: calls have not ended within 0.02 seconds: 1 call of Client") == true)
        #expect(waitingSwaps(counters).count == 1, "it does not try again before the call has ended")
        latches["long"].open()
        #expect(try await long.value == "1", "a call ends on the code that it began on")
        let report = try await swap.value
        #expect(report.outcome == .changed)
        #expect(told.all == [.waiting(for: record.metadata["calls"] ?? "")])
        #expect(try await (counter.edition(), counter.add(1)) == (2, 102))
        await eventually { gate.callsUnderWay == 0 && counters.counters["Counter"]!.left == [2: 1] }
        try await counters.expectNothingLeft(slots: ["Counter": 2])
        await counters.host.stop()
    }

    @Test func `calls that begin meanwhile are waited for in turn, as often as told`() async throws {
        let latches = Latches("first", "second"), counters = try CounterHost(script: latches.script()),
            counter = try await counters.counter()
        let first = Task { try await counter.act("first") }
        try await latches["first"].arrivals()
        let swap = Task { try await counters.swap(latches.script(2), Self.later(1)) }
        try await waits(counters)
        let second = Task { try await counter.act("second") }
        try await latches["second"].arrivals()
        latches["first"].open()
        try await counters.test.clock.expire(.milliseconds(20))
        let failure = await error { try await swap.value }
        #expect(failure?.code == .swapFailed)
        #expect(
            failure?.message.contains("quiesce: calls have not ended within 0.02 seconds: 1 call of the host") == true)
        #expect(try await (first.value, counter.edition(), counter.add(1)) == ("1", 1, 1))
        latches["second"].open()
        #expect(try await second.value == "1")
        try await counters.counters["Counter"]!.until { $0 == ["made 1", "activate 1", "made 2", "gone 2"] }
        await counters.host.stop()
    }

    @Test func `it fails when its time is up, and the old code goes on`() async throws {
        let latches = Latches("long"), counters = try CounterHost(script: latches.script()),
            counter = try await counters.counter()
        let long = Task { try await counter.act("long") }
        try await latches["long"].arrivals()
        let failure = await error {
            try await counters.test.expiring(.milliseconds(20), .milliseconds(80)) {
                try await counters.swap(latches.script(2), Self.later(within: .milliseconds(100)))
            }
        }
        #expect(
            failure?.message.contains(
                "quiesce: the swap had waited for 0.1 seconds while calls have not ended within 0.02 seconds") == true,
            "\(String(describing: failure))")
        #expect(try await (counter.edition(), counter.add(1)) == (1, 1))
        latches["long"].open()
        #expect(try await long.value == "1")
        try await counters.swap(latches.script(3))
        #expect(try await counter.edition() == 3)
        await counters.host.stop()
    }

    @Test func `a host that stops meanwhile stops`() async throws {
        let latches = Latches("long"), counters = try CounterHost(script: latches.script()),
            counter = try await counters.counter()
        let long = Task { try await counter.act("long") }
        try await latches["long"].arrivals()
        let swap = Task { try await counters.swap(latches.script(2), Self.later()) }
        try await waits(counters)
        let stop = Task { await counters.host.stop() }
        #expect(await error { try await swap.value }?.message.contains("stopped") == true)
        latches["long"].open()
        await stop.value
        _ = try? await long.value
    }

    @Test func `the manifest says what happens, unless the options do`() async throws {
        let latches = Latches("long"),
            counters = try CounterHost(
                script: latches.script(), sections: ["swap": ["drain": .number(0.02), "longCalls": "fail"]])
        let counter = try await counters.counter()
        let long = Task { try await counter.act("long") }
        try await latches["long"].arrivals()
        let failure = await error {
            try await counters.test.expiring(.milliseconds(20)) {
                try await counters.swap(latches.script(2), ChangeOptions())
            }
        }
        #expect(failure?.message.contains("quiesce: calls have not ended within 0.02 seconds") == true)
        #expect(waitingSwaps(counters).isEmpty)
        let swap = Task { try await counters.swap(latches.script(3), Self.later()) }
        try await waits(counters)
        latches["long"].open()
        #expect(try await (swap.value.outcome, long.value) == (.changed, "1"))
        await counters.host.stop()
    }

    // MARK: Cancellation

    @Test(arguments: lanes)
    func `calls are cancelled with their tasks, however many, and the swap goes on`(lanes: LaneRule) async throws {
        let arrived = Atomic(0)
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { _, _, _ in
            arrived.wrappingAdd(1, ordering: .relaxed)
            try await Task.sleep(for: .seconds(3_600))
            return ""
        }
        let counters = try CounterHost(
            lanes: lanes, script: CounterScript(act: act), others: ["Client": ClientPlugin.manager("Client")],
            linked: [LinkedPlugin(ClientPlugin.self)])
        let counter = try await counters.counter(), client: Remote<Clients> = try await counters.host.manager("Client")
        #expect(try await counter.add(5) == 5)
        let calls = (0..<150).map { number in
            Task { try await number.isMultiple(of: 2) ? counter.act("") : client.act("") }
        }
        let named = Task { try await counters.test.call("Counter", "act", #""""#) }
        await eventually { arrived.load(ordering: .relaxed) == 151 }
        let report = try await counters.test.expiring(.seconds(7)) {
            try await counters.swap(CounterScript(edition: 2), ChangeOptions(drain: .upTo(.seconds(7), then: .cancel)))
        }
        #expect(report.outcome == .changed)
        #expect(report.warnings.count == 1, "\(report.warnings)")
        #expect(report.warnings.first?.hasPrefix("cancelled: calls have not ended within 7.0 seconds: ") == true)
        for call in calls { #expect(await error { try await call.value }?.code == .callCancelled) }
        #expect(await error { try await named.value }?.code == .callCancelled)
        #expect(try await (counter.edition(), counter.add(1)) == (2, 6))
        try await counters.expectNothingLeft(slots: ["Counter": 3])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a call that ignores its cancellation fails the swap, which names it`(lanes: LaneRule) async throws {
        let latches = Latches("long"), counters = try CounterHost(lanes: lanes, script: latches.script()),
            counter = try await counters.counter()
        let long = Task { try await counter.act("long") }
        try await latches["long"].arrivals()
        let failure = await error {
            try await counters.test.expiring(.milliseconds(20), .milliseconds(20)) {
                try await counters.swap(
                    latches.script(2), ChangeOptions(drain: .upTo(.milliseconds(20), then: .cancel)))
            }
        }
        #expect(failure?.code == .swapFailed && failure?.message.contains("1 call of the host program") == true)
        #expect(try await (counter.edition(), counter.add(1)) == (1, 1))
        latches["long"].open()
        #expect(try await long.value == "1")
        await counters.host.stop()
    }

    // MARK: Callers that wait

    @Test(arguments: lanes)
    func `a bound on those that wait refuses further ones at once`(lanes: LaneRule) async throws {
        let inside = TestGate(),
            counters = try CounterHost(
                lanes: lanes, script: CounterScript(suspended: { _ in await inside.passThoughCancelled() })
            ) { $0.waitingLimit = 2 }
        let counter = try await counters.counter(), gate = try await counters.host.gate(of: "Counter")
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await inside.arrivals()
        let waiting = (0..<2).map { _ in Task { try await counter.add(1) } }
        await eventually { gate.callsWaiting == 2 }
        let refused = await error { try await counter.add(1) }
        #expect(refused?.code == .callOverloaded)
        #expect(refused?.message.contains("2 calls") == true)
        #expect(await error { try await counters.test.call("Counter", "add", "1") }?.code == .callOverloaded)
        inside.open()
        _ = try await swap.value
        for call in waiting { _ = try await call.value }
        #expect(try await counter.add(1) == 3, "what was refused has added nothing")
        await counters.host.stop()
    }
}

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
