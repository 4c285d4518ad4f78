import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Components that a change stops while something waits for them, and they for something.
@Suite(.timeLimit(.minutes(5)))
struct ChangeDeadlockTests {
    private func expectNobodyLeft(_ test: TestHost, _ location: SourceLocation = #_sourceLocation) {
        let left = test.log.records.filter { $0.level >= .error }
        #expect(left == [], sourceLocation: location)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a call under way comes back to the manager that is reset, and ends as it would have`(lanes: LaneRule)
        async throws
    {
        let under = TestGate()
        let back = Script(act: { context, text, call in
            if text == "back" { return "back" }
            await under.passThoughCancelled()
            let b: Wire<Scripted> = try await context.manager("B")
            return try await b.act(text, call)
        })
        let b = Script(act: { context, text, call in
            let a: Wire<Scripted> = try await context.manager("A")
            return try await a.act("back", call) + a.actNow("", call)
        })
        let test = try ScriptedPlugin.host(["A": .init(script: back), "B": .init(script: b)], lanes: lanes)
        try await test.host.start()
        let a: Remote<Scripted> = try await test.host.manager("A"), gate = try await test.host.gate(of: "A")
        let call = Task { try await a.act("there") }
        try await under.arrivals()
        let reset = Task { try await test.host.reset("A") }
        await eventually { (try? a.actNow("")) == nil }
        let late = Task { try await a.act("back") }
        await eventually { gate.callsWaiting == 1 }
        under.open()
        #expect(try await call.value == "back0")
        #expect(try await reset.value.restarted == ["A"])
        #expect(try await late.value == "back")
        expectNobodyLeft(test)
        await test.host.stop()
    }

    @Test func `managers that call each other are recreated while their calls are in flight`() async throws {
        let under = TestGate()
        let a = Script(act: { context, text, call in
            if text == "end" { return "end" }
            await under.passThoughCancelled()
            let b: Wire<Scripted> = try await context.manager("B")
            return try await b.act("on", call)
        })
        let b = Script(act: { context, text, call in
            let a: Wire<Scripted> = try await context.manager("A")
            return try await a.act("end", call)
        })
        let test = try ScriptedPlugin.host(["A": .init(script: a), "B": .init(script: b)])
        try await test.host.start()
        let first: Remote<Scripted> = try await test.host.manager("A"),
            second: Remote<Scripted> = try await test.host.manager("B")
        _ = try await second.act("on")  // B knows A
        let call = Task { try await first.act("go") }
        try await under.arrivals()
        let reset = Task { try await test.host.reset() }
        await eventually { (try? first.actNow("")) == nil || (try? second.actNow("")) == nil }
        under.open()
        _ = await call.result  // it may be told that B is gone, but it ends
        #expect(try await reset.value.restarted == ["A", "B"])
        expectNobodyLeft(test)
        #expect(try await first.act("go") == "end")
        await test.host.stop()
    }

    @Test func `a call that waits for a stopped manager is refused when it holds up the next stop`() async throws {
        // A calls K, which stays and looked C up: of C the change knows nothing, and stops it first.
        let under = TestGate()
        let a = Script(act: { context, text, call in
            await under.passThoughCancelled()
            let k: Wire<Scripted> = try await context.manager("K")
            return try await k.act(text, call)
        })
        let k = Script(act: { context, text, call in
            let c: Wire<Scripted> = try await context.manager("C")
            return try await c.act(text, call)
        })
        let parts: [String: ScriptedPlugin.Part] = ["A": .init(script: a), "K": .init(script: k), "C": .init()]
        let test = try ScriptedPlugin.host(parts)
        for name in ["A", "K", "C"] { _ = try await test.host.manager(name, as: Scripted.self) }
        let first: Remote<Scripted> = try await test.host.manager("A"),
            third: Remote<Scripted> = try await test.host.manager("C")
        let other: Remote<Scripted> = try await test.host.manager("K")
        _ = try await other.act("hello")
        let call = Task { try await first.act("go") }
        try await under.arrivals()
        var changed = parts
        changed["A"]?.edition = 1
        changed["C"]?.edition = 1
        let (document, gate) = (ScriptedPlugin.document(changed), try await test.host.gate(of: "C"))
        let change = Task { try await test.host.apply(document) }
        await eventually { (try? third.actNow("")) == nil }
        let stranger = Task { try await third.act("patient") }
        await eventually { gate.callsWaiting == 1 }
        under.open()
        #expect(await error { try await call.value }?.code == .callRetired)
        #expect(try await change.value.restarted == ["A", "C"])
        #expect(try await stranger.value == "patient", "whoever holds nothing up waits")
        expectNobodyLeft(test)
        await test.host.stop()
    }

    @Test func `a look-up from a call in flight ends, whatever a change does`() async throws {
        let first = TestGate(), second = TestGate()
        let a = Script(act: { context, name, call in
            await first.passThoughCancelled()
            let other: Wire<Scripted> = try await context.manager(name, for: call)
            return try await other.act("found", call)
        })
        let c = Script(act: { _, text, _ in
            await second.passThoughCancelled()
            return text
        })
        let parts: [String: ScriptedPlugin.Part] = [
            "A": .init(script: a), "C": .init(script: c), "Lazy": .init(isLazy: true),
            "User": .init(left: "A", isLazy: true),
        ]
        let test = try ScriptedPlugin.host(parts)
        let one: Remote<Scripted> = try await test.host.manager("A"),
            other: Remote<Scripted> = try await test.host.manager("C")
        let holding = Task { try await other.act("held") }
        let lookUps = ["Lazy", "User", "Nobody", "C"].map { name in Task { try await one.act(name) } }
        await eventually { first.arrived == 4 && second.arrived == 1 }
        var changed = parts
        changed["A"]?.edition = 1
        changed["C"]?.edition = 1
        let document = ScriptedPlugin.document(changed)
        let change = Task { try await test.host.apply(document) }
        // C came up last and stops first; it is held up, and so is the change.
        await eventually { (try? other.actNow("")) == nil }
        first.open()
        let found = await lookUps[0].result
        #expect((try? found.get()) == "found", "who stays can be looked up, and started, also during a change")
        second.open()
        #expect(try await holding.value == "held")
        for lookUp in lookUps[1...] { #expect(await error { try await lookUp.value } != nil) }
        #expect(try await change.value.restarted == ["A", "C"])
        expectNobodyLeft(test)
        await test.host.stop()
    }
}
