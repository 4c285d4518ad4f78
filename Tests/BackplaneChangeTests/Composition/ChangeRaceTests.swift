import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Starts, changes, calls and stops that meet.
@Suite(.timeLimit(.minutes(5)))
struct ChangeRaceTests {
    /// What came up and has not stopped, by the host's own lines.
    private func left(of test: TestHost) -> [String: Int] {
        var left: [String: Int] = [:]
        for record in test.log.records where record.source == "host" {
            guard let component = record.metadata["component"] else { continue }
            if record.message == "started" { left[component, default: 0] += 1 }
            if record.message == "stopped" { left[component, default: 0] -= 1 }
        }
        return left.filter { $0.value != 0 }
    }

    @Test func `a start and a smaller manifest at once lead to exactly the managers of that manifest`() async throws {
        for round in 0..<20 {
            var peers: [String: PeerHost.Peer] = [:]
            for index in 0..<30 {
                peers["C\(index)"] = .init(number: index, left: index % 3 > 0 ? "C\(index - 1)" : nil)
            }
            let peerHost = try PeerHost(peers), host = peerHost.host
            if round % 2 == 0 { _ = try await peerHost.peer("C29") }
            let fewer = peerHost.document([
                "C1": .init(number: 100), "C29": .init(number: 200, isLazy: true), "D": .init(left: "C1"),
            ])
            // The change may refuse the start, or come before it.
            async let start: Void? = try? await host.start()
            async let change = host.apply(fewer)
            _ = try await (start, change)
            // It is lazy now: up if it was before.
            let isUp = await peerHost.states()[1] == "C29 ready"
            #expect(round % 2 == 1 || isUp)
            #expect(await peerHost.states() == ["C1 ready", isUp ? "C29 ready" : "C29 resolved", "D ready"])
            #expect(left(of: peerHost.test).keys.sorted() == (isUp ? ["C1", "C29", "D"] : ["C1", "D"]))
            await host.stop()
            #expect(left(of: peerHost.test) == [:], "round \(round)")
        }
    }

    @Test func `everything at once ends, and leaves nothing behind`() async throws {
        for round in 0..<20 {
            var peers: [String: PeerHost.Peer] = ["A": .init(number: 1), "B": .init(left: "A")]
            for index in 0..<10 { peers["L\(index)"] = .init(left: "B", meets: ["A"], isLazy: index % 2 == 0) }
            let peerHost = try PeerHost(peers), all = peers
            await withTaskGroup { group in
                group.addTask { try? await peerHost.host.start() }
                for number in 0..<5 {
                    group.addTask { _ = try? await peerHost.host.reset("A") }
                    group.addTask { _ = try? await peerHost.host.reset() }
                    group.addTask {
                        var changed = all
                        changed["A"]?.number = number
                        changed["L\(number)"] = nil
                        _ = try? await peerHost.host.apply(peerHost.document(changed))
                    }
                    group.addTask { _ = try? await peerHost.peer("L\(number)").met() }
                    group.addTask { _ = try? await peerHost.peer("B").ask("L\(number)") }
                    group.addTask { _ = try? await peerHost.test.call("B", "friends") }
                }
                if round % 2 == 0 {
                    group.addTask {
                        for _ in 0..<(round * 20) { await Task.yield() }
                        await peerHost.host.stop()
                    }
                }
            }
            await peerHost.host.stop()
            #expect(left(of: peerHost.test) == [:], "round \(round)")
            #expect(peerHost.test.log.records.allSatisfy { $0.level < .error })
        }
    }
}

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

/// What is left of components that were recreated again and again.
@Suite(.timeLimit(.minutes(15)))
struct LifecycleLeakTests {
    private final class Weak: Sendable {
        weak let component: RunningComponent?
        init(_ component: RunningComponent) { self.component = component }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `of many resets nothing is left but the last instance`(lanes: LaneRule) async throws {
        let script = Script(made: { _ = try await $0.manager("B", as: Scripted.self) })
        var options = HostOptions(stopLimit: .seconds(60), occupationLimit: nil)
        options.lanes = lanes
        let coordinator = Coordinator(
            ScriptedPlugin.document(["A": .init(script: script, left: "B"), "B": .init(), "User": .init(left: "A")]),
            linked: [LinkedPlugin(ScriptedPlugin.self)],
            options)
        try await coordinator.startAll(keepGoing: false)
        let remote = Remote<Scripted>(try await coordinator.slot(to: "A", as: Scripted.self))
        var components: [Weak] = []
        for _ in 0..<Nightly.count(200, night: 1_000) {
            components.append(Weak(try await coordinator.running("A")))
            _ = try await coordinator.reset(.manager("A"))
            #expect(try await remote.act("hello") == "hello")
        }
        // A thread that has ended a step may keep the component a little longer.
        await eventually { components.count { $0.component != nil } == 0 }
        await eventually { script.instances.count == 1 }
        #expect(await coordinator.wires().count == 4)
        let gates = (try await coordinator.gate(of: "A"), try await coordinator.gate(of: "B"))
        #expect(
            gates.0.slotCount == 2 && gates.1.slotCount == 2,
            "the user's and the program's; the one it declares and the one it looked up")
        #expect(await coordinator.numbersInUse == 3)
        await coordinator.stop()
        #expect(await coordinator.numbersInUse == 0)
        await eventually { script.instances.count == 0 }
    }

    @Test func `of managers that come and go no gate and no wire for calls by name is left`() async throws {
        let coordinator = Coordinator(
            ScriptedPlugin.document([:]), linked: [LinkedPlugin(ScriptedPlugin.self)],
            HostOptions(occupationLimit: nil))
        for number in 0..<20 {
            let name = "M\(number)"
            try await apply([name: .init()], to: coordinator)
            #expect(try await call(name, of: coordinator) == Array(#""hello""#.utf8))
        }
        #expect(await coordinator.managerGates == 2, "those of the last change")
        #expect(await coordinator.namedWires.count == 1)
        await coordinator.stop()
    }

    @Test func `components that were left with calls in flight are forgotten once those have ended`() async throws {
        let gates = (TestGate(), TestGate())
        func part(_ gate: TestGate) -> ScriptedPlugin.Part {
            .init(
                script: Script(act: { _, text, _ in
                    await gate.passThoughCancelled()
                    return text
                }))
        }
        let parts = ["A": part(gates.0), "B": part(gates.1)]
        let coordinator = Coordinator(
            ScriptedPlugin.document(parts), linked: [LinkedPlugin(ScriptedPlugin.self)],
            HostOptions(stopLimit: .milliseconds(10), occupationLimit: nil))
        let components = (try await coordinator.running("A"), try await coordinator.running("B"))
        let calls = ["A", "B"].map { name in Task { try await call(name, of: coordinator) } }
        await eventually { components.0.calls.callsInFlight == 1 && components.1.calls.callsInFlight == 1 }
        try await apply(parts.filter { $0.key == "B" }, to: coordinator)
        #expect(await coordinator.leftBehind == 1)
        gates.0.open()
        await eventually { components.0.calls.callsInFlight == 0 }
        try await apply([:], to: coordinator)
        #expect(await coordinator.leftBehind == 1, "the second one only")
        gates.1.open()
        for call in calls { _ = await call.result }
        await coordinator.stop()
    }

    private func apply(_ parts: [String: ScriptedPlugin.Part], to coordinator: Coordinator) async throws {
        _ = try await coordinator.apply(ScriptedPlugin.document(parts), ChangeOptions(), progress: nil)
    }

    private func call(_ manager: String, of coordinator: Coordinator) async throws -> [UInt8] {
        try await coordinator.names(of: manager).call("act", Array(#""hello""#.utf8), Call(within: nil))
    }
}

/// What tests look at inside a host.
extension Coordinator {
    var nodeCounts: (active: Int, known: Int, started: Int, ready: Int) {
        (live.nodes.count, live.nodesByID.count, live.started.count, live.nodes.count { $0.running != nil })
    }
    var numbersInUse: Int { live.numbers.inUse }
    var waitingTurns: Int { turns.waitingCount }
    var hasRetirements: Bool { !stopper.retirementsUnderWay.isEmpty }
    var managerGates: Int { live.managerGates.count }
    var leftBehind: Int { live.leftBehind.count }
    /// Starts the node that a manager has before `body`, although another may have replaced it afterwards.
    func startFormer(_ manager: String, after body: @Sendable () async -> Void) async throws -> RunningComponent {
        let node = live.nodes[try live.loaded.node(ofManager: manager).id]
        await body()
        return try await starter.start(node, during: starter.nextAttempt()).get()
    }
}
