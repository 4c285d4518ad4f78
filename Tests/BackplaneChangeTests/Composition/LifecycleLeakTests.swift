import Backplane
import BackplaneTestKit
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

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
