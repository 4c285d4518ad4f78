import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// Managers that look up managers which their wires do not name.
@Suite(.timeLimit(.minutes(5)))
struct ComponentLookUpTests {
    @Test(arguments: Origin.allCases)
    func `a manager looks another one up, in its initialiser and later, and starts it`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            ["A": .init(number: 1, meets: ["B"]), "B": .init(number: 2), "C": .init(number: 3)], from: origin)
        let a = try await peerHost.peer("A")
        #expect(await peerHost.states() == ["A ready", "B ready", "C resolved"])
        #expect(try await a.met() == [2])
        #expect(try await a.ask("C") == 3)
        #expect(try await a.ask("A") == 1, "itself, too, once it is up")
        #expect(await peerHost.states() == ["A ready", "B ready", "C ready"])
        for _ in 0..<3 { _ = try await a.ask("C") }
        let wires = await peerHost.host.wires.filter { $0.user == "A" && $0.label == "C" }
        #expect(wires.count == 1, "the same wire as often as it is asked for")
        #expect(wires.allSatisfy { $0.contract == "Peers" && ($0.lane == .native) == (origin != .encoded) })
        await peerHost.host.stop()
    }

    @Test func `what there is not is an error that says so`() async throws {
        let peerHost = try PeerHost(["A": .init(), "Broken": .init(fails: "no")])
        let a = try await peerHost.peer("A")
        let unknown = await error { try await a.ask("Brokem") }
        #expect(
            unknown?.failure?.code == "manager.unknown" || unknown?.code == .unknownManager,
            "\(String(describing: unknown))")
        #expect(unknown?.message.contains("did you mean `Broken`?") == true)
        #expect(await error { try await a.ask("Broken") }?.message == "no")
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `managers that look each other up while they start are told, and none hangs`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            [
                "A": .init(meets: ["B"]), "B": .init(meets: ["C"]), "C": .init(meets: ["A"]),
                "Self": .init(meets: ["Self"]), "Sound": .init(),
            ], from: origin)
        let failure = await error { try await peerHost.host.start() }
        #expect(failure?.detailedDescription.contains("manager.cycle") == true)
        let cycles = await peerHost.host.managers.compactMap { status -> String? in
            guard case .failed(let error) = status.state else { return nil }
            return error.message
        }
        #expect(cycles.count == 4)
        #expect(cycles.contains { $0.contains("Self → Self") })
        #expect(cycles.contains { $0.contains("→ A →") || $0.contains("A → B → C → A") })
        #expect(await peerHost.states().last == "Sound ready")
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a look-up for a call that a manager makes while it starts does not wait for that manager`(origin: Origin)
        async throws
    {
        let peerHost = try PeerHost(
            ["A": .init(asks: ["B", "A"]), "B": .init(number: 2), "C": .init(asks: ["B", "D"]), "D": .init()],
            from: origin)
        let circle = await error { try await peerHost.peer("A") }
        #expect(circle?.detailedDescription.contains("A → A") == true, "\(String(describing: circle))")
        _ = try await peerHost.peer("C")
        #expect(await peerHost.states() == ["A failed", "B ready", "C ready", "D ready"])
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a contract is resolved to the first manager that is wanted`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            ["A": .init(number: 1), "B": .init(number: 2), "OtherB": .init(number: 3), "Relay": .init(number: 4)],
            from: origin)
        let a = try await peerHost.peer("A")
        #expect(try await a.resolve("") == 1)
        #expect(try await a.resolve("B") == 2)
        #expect(try await a.resolve("rB") == 3)
        let nobody = await error { try await a.resolve("Z") }
        #expect(
            nobody?.message
                == "no manager was found that provides Peers 1.0.0; `A`, `B`, `OtherB`, `Relay` did not match the predicate"
        )
        await peerHost.host.stop()
    }

    @Test func `a manager stops after those that looked it up`() async throws {
        let peerHost = try PeerHost(["A": .init(), "B": .init(), "C": .init()])
        let a = try await peerHost.peer("A")
        _ = try await a.ask("C")
        _ = try await peerHost.peer("B").ask("A")
        await peerHost.host.stop()
        let order = peerHost.test.log.records.filter { $0.message == "stopped" }.compactMap { $0.metadata["component"] }
        #expect(order == ["B", "A", "C"])
    }
}
