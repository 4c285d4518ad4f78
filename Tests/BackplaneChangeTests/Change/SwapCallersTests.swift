import Backplane
import BackplaneTestKit
import Dispatch
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// New code, old state, not one call lost.
@Suite(.timeLimit(.minutes(5)))
struct SwapTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `the new code continues from the old state, and callers notice nothing`(lanes: LaneRule) async throws {
        let counters = try CounterHost(lanes: lanes) { $0.checksState = true }, counter = try await counters.counter()
        #expect(try await counter.add(5) == 5)
        let report = try await counters.swap(CounterScript(edition: 2))
        #expect(report.outcome == .changed)
        #expect(try await counter.edition() == 2)
        #expect(try await counter.add(2) == 7)
        #expect(try counter.sumNow() == 7)
        #expect(try await counters.test.call("Counter", "add", "1") == "8")
        try await counters.counters["Counter"]!.until { $0.last == "gone 1" }
        let native = ["export 1", "export 1", "import 2", "export 2", "import 2"]
        #expect(
            counters.counters["Counter"]!.all == ["made 1", "activate 1", "made 2", "suspend 1"]
                + (lanes == .fastest ? native : ["export 1", "import 2", "export 2"]) + ["activate 2", "gone 1"],
            "a host that checks, as a debug build does, exports once more to compare, and tries JSON in any case")
        await counters.host.stop()
    }
}

/// Calls that meet a swap.
@Suite(.timeLimit(.minutes(5)))
struct SwapCallersTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `calls under way end on the code they began on, those that come wait for the new`(lanes: LaneRule) async throws
    {
        let inside = TestGate()
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, _ in
            if text == "long" { await inside.passThoughCancelled() }
            return "\(counter.script.edition)"
        }
        let counters = try CounterHost(lanes: lanes, script: CounterScript(act: act)),
            counter = try await counters.counter(),
            gate = try await counters.host.gate(of: "Counter")
        let long = (0..<3).map { _ in Task { try await counter.act("long") } }
        try await inside.arrivals(3)
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let late = (0..<20).map { _ in Task { try await counter.act("") } },
            named = Task { try await counters.test.call("Counter", "act", #""""#) }
        await eventually { gate.callsWaiting == 21 }
        #expect(try counter.editionNow() == 1, "one that cannot wait gets the old one")
        counters.test.clock.advance(by: .seconds(1))
        inside.open()
        for call in long { #expect(try await call.value == "1") }
        for call in late { #expect(try await call.value == "2") }
        #expect(try await named.value == #""2""#)
        let report = try await swap.value
        #expect(report.callsHeld == 21 && report.longestWait == .seconds(1))
        #expect(report.components.map(\.callsInFlight) == [3])
        try await counters.expectNothingLeft(slots: ["Counter": 2])
        await counters.host.stop()
    }

    @Test func `unrelated calls, look-ups and starts are not held up`() async throws {
        let inside = TestGate(),
            act: @Sendable (StatefulCounter, String, Call) async throws -> String = { _, text, _ in
                await inside.passThoughCancelled()
                return text
            }
        let counters = try CounterHost(
            script: CounterScript(act: act),
            others: [
                "Other": ScriptedPlugin.Part().value, "Lazy": ScriptedPlugin.Part(left: "Other", isLazy: true).value,
            ],
            linked: [LinkedPlugin(ScriptedPlugin.self)])
        let counter = try await counters.counter(), gate = try await counters.host.gate(of: "Counter"),
            other: Remote<Scripted> = try await counters.host.manager("Other")
        let long = Task { try await counter.act("long") }
        try await inside.arrivals()
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        await eventually { gate.isHeld }
        for _ in 0..<100 { #expect(try await other.act("there") == "there") }
        let again: Remote<Scripted> = try await counters.host.manager("Other"),
            lazy: Remote<Scripted> = try await counters.host.manager("Lazy")
        #expect(try await again.act("again") == "again" && lazy.actNow("") == "0")
        #expect(
            try await counters.host.manager("Counter", as: Counting.self).editionNow() == 1,
            "what is swapped can be looked up too")
        #expect(await counters.host.managers.count == 3)
        inside.open()
        _ = try await (swap.value, long.value)
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a synchronous call reaches the old instance, which is not waited for and outlives it`(lanes: LaneRule)
        async throws
    {
        let suspending = TestGate(), inside = DispatchSemaphore(value: 0), arrived = Mutex(false)
        let script = CounterScript(
            suspended: { _ in await suspending.passThoughCancelled() },
            actNow: { counter, _ in
                arrived.withLock { $0 = true }
                inside.wait()
                return "\(counter.script.edition) \(counter.sum.withLock { $0 })"
            })
        let counters = try CounterHost(lanes: lanes, script: script), counter = try await counters.counter(),
            events = counters.counters["Counter"]!, gate = try await counters.host.gate(of: "Counter")
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await suspending.arrivals()
        let answer = Mutex<String?>(nil)
        _ = HostThread.launch {
            let text = try? counter.actNow("")
            answer.withLock { $0 = text ?? "failed" }
        }
        await eventually { arrived.withLock { $0 } && gate.callsAside == 1 }
        suspending.open()
        #expect(try await swap.value.outcome == .changed, "it does not wait")
        #expect(try await counter.add(1) == 6)
        #expect(try counter.editionNow() == 2, "once the gate is open synchronous calls go to the new one")
        try await eventually {
            try await counters.host.generations().first?.heldBy.first == "1 call in Counter that has not ended"
        }
        #expect(!events.all.contains("gone 1"))
        inside.signal()
        await eventually { answer.withLock { $0 } != nil }
        #expect(answer.withLock { $0 } == "1 5")
        try await events.until { $0.contains("gone 1") }
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a call that never ends keeps the swap until its deadline, which names it, and calls go on`(lanes: LaneRule)
        async throws
    {
        let never = TestGate()
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { _, text, _ in
            await never.passThoughCancelled()
            return text
        }
        let counters = try CounterHost(
            lanes: lanes, script: CounterScript(act: act), others: ["Client": ClientPlugin.manager("Client")],
            linked: [LinkedPlugin(ClientPlugin.self)])
        let counter = try await counters.counter(), client: Remote<Clients> = try await counters.host.manager("Client"),
            gate = try await counters.host.gate(of: "Counter")
        let own = (0..<2).map { _ in Task { try await counter.act("own") } }, its = Task { try await client.act("its") }
        let named = Task { try await counters.test.call("Counter", "act", #""named""#) }
        try await never.arrivals(4)
        let swap = Task {
            try await counters.swap(CounterScript(edition: 2), ChangeOptions(drain: .upTo(.seconds(10), then: .fail)))
        }
        await eventually { gate.isHeld }
        let waiting = Task { try await counter.add(1) }
        await eventually { gate.callsWaiting == 1 }
        try await counters.test.clock.expire(.seconds(10))
        let failure = await error { try await swap.value }
        #expect(failure?.code == .swapFailed && failure?.causes.map(\.code) == [.swapHeld])
        for caller in [
            "2 calls of the host program to Counter", "1 call of Client through its wire `counter` to Counter",
            "1 call by name to Counter",
        ] {
            #expect(failure?.message.contains(caller) == true, "\(String(describing: failure))")
        }
        // By name means encoded in either lane, so the method is known.
        #expect(
            failure?.message.contains("(in `act` of Counter); the old code keeps running") == true,
            "\(String(describing: failure))")
        #expect(failure?.message.contains("quiesce: calls have not ended within 10.0 seconds: ") == true)
        #expect(try await waiting.value == 1, "who waited goes on, with the old code")
        #expect(try await counter.edition() == 1)
        // It was not even suspended.
        try await counters.counters["Counter"]!.until { $0 == ["made 1", "activate 1", "made 2", "gone 2"] }
        never.open()
        for call in own { #expect(try await call.value == "own") }
        #expect(try await its.value == "its")
        #expect(try await named.value == #""named""#)
        try await counters.swap(CounterScript(edition: 3))
        #expect(try await counter.add(1) == 2)
        await counters.host.stop()
    }

    @Test
    func `four callers in both lanes and one in C meet two hundred swaps, and not one call is lost or comes twice`()
        async throws
    {
        for lanes in Self.lanes {
            let counters = try CounterHost(
                ["Counter", "Second", "Third", "Fourth"], lanes: lanes,
                others: [
                    "Client": ClientPlugin.manager("Client", ["counter": "Second"]),
                    "Relay": RelayPlugin.manager(to: "Third"),
                ],
                linked: [LinkedPlugin(ClientPlugin.self)], libraries: ["Relay"], in: RelayPlugin.folder())
            let (counter, fourth) = (try await counters.counter(), try await counters.counter("Fourth")),
                client: Remote<Clients> = try await counters.host.manager("Client")
            let relay: Remote<Counting> = try await counters.host.manager("Relay"), callers = Callers()
            callers.begin { try await counter.add(1) }
            callers.begin { try await client.add(1) }
            callers.begin { try await relay.add(1) }
            callers.begin { Int(try await counters.test.call("Fourth", "add", "1")) ?? -1 }
            for number in 2...201 {
                let before = callers.answers
                #expect(try await counters.swap(CounterScript(edition: number)).outcome == .changed)
                #expect(try fourth.editionNow() == number)
                if number % 20 == 0 { await eventually { callers.answers > before } }
            }
            #expect(await callers.end() == [])
            let (second, third) = (try await counters.counter("Second"), try await counters.counter("Third"))
            let sums = try [counter, second, third, fourth].map { try $0.sumNow() }
            #expect(sums == callers.last)
            #expect(try await counter.edition() == 201)
            try await counters.counters["Counter"]!.until { $0.left == [201: 1] }
            await eventually { await counters.host.coordinator.numbersInUse == 6 }
            await counters.host.stop()
        }
    }

    @Test func `calls by name that waited do not occupy the host, whatever their provider does`() async throws {
        let inside = TestGate(), released = DispatchSemaphore(value: 0), count = 40
        let blocks: @Sendable () -> Void = { released.wait() }
        let counters = try CounterHost(script: CounterScript(suspended: { _ in await inside.passThoughCancelled() }))
        let gate = try await counters.host.gate(of: "Counter")
        _ = try await counters.counter()
        let swap = Task {
            try await counters.swap(
                CounterScript(
                    edition: 2,
                    act: { _, text, _ in
                        blocks()
                        return text
                    }))
        }
        try await inside.arrivals()
        let calls = (0..<count).map { number in
            Task { try await counters.test.call("Counter", "act", #""\#(number)""#) }
        }
        await eventually { gate.callsWaiting == count }
        inside.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(await counters.host.statistics.first { $0.component == "Counter" }?.generation == 2)
        for _ in calls { released.signal() }
        for (number, call) in calls.enumerated() { #expect(try await call.value == #""\#(number)""#) }
        await counters.host.stop()
    }
}

/// Calls that go through what is being swapped and come back to it: they have to get in, or the swap would wait for
/// itself.
@Suite(.timeLimit(.minutes(5)))
struct SwapPathTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    /// Ends at once when it is asked to, and otherwise goes on to `next` once it is let.
    private static func act(_ inside: TestGate, to next: String)
        -> @Sendable (StatefulCounter, String, Call) async throws -> String
    {
        { counter, text, call in
            if text == "end" { return "\(counter.script.edition)" }
            await inside.passThoughCancelled()
            let next: Wire<Counting> = try await counter.context.manager(next, for: call)
            return try await next.act("end", call) + " through \(counter.script.edition)"
        }
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while both are swapped`(lanes: LaneRule) async throws {
        let inside = TestGate(),
            both: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, call in
                switch text {
                case "end": return "\(counter.script.edition)"
                case "back":
                    let a: Wire<Counting> = try await counter.context.manager("A", for: call)
                    return try await a.act("end", call) + " through \(counter.script.edition)"
                default:
                    await inside.passThoughCancelled()
                    let b: Wire<Counting> = try await counter.context.manager("B", for: call)
                    return try await b.act("back", call) + " through \(counter.script.edition)"
                }
            }
        let counters = try CounterHost(["A", "B"], lanes: lanes, script: CounterScript(act: both))
        let a = try await counters.counter("A"), b = try await counters.counter("B"),
            gates = (try await counters.gate("A"), try await counters.gate("B"))
        _ = try await b.edition()
        let call = Task { try await a.act("go") }
        try await inside.arrivals()
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: both)) }
        await eventually { gates.0.isHeld && gates.1.isHeld }
        let strangers = (Task { try await a.act("end") }, Task { try await b.act("back") })
        await eventually { gates.0.callsWaiting == 1 && gates.1.callsWaiting == 1 }
        inside.open()
        #expect(try await call.value == "1 through 1 through 1")
        #expect(try await swap.value.outcome == .changed)
        #expect(try await strangers.0.value == "2")
        #expect(try await strangers.1.value == "2 through 2")
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a call comes back through a plugin in C`(lanes: LaneRule) async throws {
        let inside = TestGate(), act = Self.act(inside, to: "Relay")
        let counters = try CounterHost(
            lanes: lanes, script: CounterScript(act: act), others: ["Relay": RelayPlugin.manager()],
            libraries: ["Relay"],
            in: RelayPlugin.folder())
        let counter = try await counters.counter(), relay: Remote<Counting> = try await counters.host.manager("Relay"),
            gate = try await counters.gate("Counter")
        let calls = [Task { try await counter.act("go") }, Task { try await relay.act("go") }]
        try await inside.arrivals(2)
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let stranger = Task { try await relay.act("end") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        for call in calls { #expect(try await call.value == "1 through 1") }
        #expect(try await swap.value.outcome == .changed)
        #expect(try await stranger.value == "2")
        #expect(try await relay.act("go") == "2 through 2")
        await counters.host.stop()
    }

    @Test func `a new instance calls another new one while it is activated, before the gates open`() async throws {
        let counters = try CounterHost(["A", "B"], wires: ["B": "A"]), b = try await counters.counter("B"),
            a = try await counters.counter("A")
        _ = try await a.add(3)
        let seen = Once()
        let report = try await counters.swap(
            CounterScript(
                edition: 2,
                activated: { context in
                    guard let next = context.wires.next else { return }
                    let answers = (try await next.edition(context.begin()), try await next.add(10, context.begin()))
                    #expect(answers == (2, 13), "the new one, with the state that it took over")
                    _ = seen.isFirst
                }))
        #expect(report.outcome == .changed && !seen.isFirst)
        #expect(try await a.add(1) == 14)
        #expect(try await b.edition() == 2)
        await counters.host.stop()
    }

    @Test func `a call of a new instance that never ends keeps its provider alive when the swap fails`()
        async throws
    {
        let never = TestGate(), counters = try CounterHost(["A", "B"], wires: ["B": "A"]),
            a = try await counters.counter("A"),
            events = counters.counters["A"]!
        _ = try await (a.add(3), counters.counter("B"))
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, _ in
            await never.passThoughCancelled()
            return "\(counter.script.edition) \(counter.sum.withLock { $0 })"
        }
        let answers = Answers()
        let script = CounterScript(
            edition: 2,
            activated: { context in
                guard let next = context.wires.next else { return }
                await answers.note(try await next.act("", context.begin()))
            }, act: act)
        let failure = await error {
            try await counters.test.expiring(.seconds(10), once: { try await never.arrivals() }) {
                try await counters.swap(
                    script, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(10)))
            }
        }
        #expect(failure?.message.contains("activate: B took longer than 10.0 seconds to be activated") == true)
        #expect(try await a.add(1) == 4)
        #expect(!events.all.contains("gone 2"), "a call is in it")
        never.open()
        await eventually { await answers.all == ["2 3"] }
        try await events.until { $0.contains("gone 2") }
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        await counters.host.stop()
    }
}

/// What was answered.
actor Answers {
    private(set) var all: [String] = []
    func note(_ answer: String) { all.append(answer) }
}

extension CounterHost {
    func gate(_ name: String) async throws(BackplaneError) -> BackplaneHost.Gate { try await host.gate(of: name) }
}
