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
        let a: Remote<Scripted> = try await test.host.manager("A")
        let call = Task { try await a.act("there") }
        try await under.arrivals()
        #expect(try await test.host.reset("A").managers.restarted == ["A"], "which does not wait for the call")
        under.open()
        #expect(try await call.value == "back0")
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
        #expect(try await test.host.apply(document).managers.restarted == ["A", "C"])
        first.open()
        second.open()
        #expect(try await lookUps[0].value == "found", "the replaced instance goes on, and what it looks up starts")
        #expect(await error { try await lookUps[2].value }?.code == .unknownManager)
        #expect(try await lookUps[3].value == "found")
        #expect(try await holding.value == "held")
        _ = await lookUps[1].result  // by then, it may have been replaced itself
        expectNobodyLeft(test)
        await test.host.stop()
    }
}
