import Backplane
import BackplaneDocuments
import BackplaneNetwork
import BackplaneTestKit
import CBackplane
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// What is left once a host has stopped: errors, and no harm.
@Suite(.timeLimit(.minutes(10)))
struct StoppedHostTests {
    @Test(arguments: Origin.allCases)
    func `every way in says that it is over`(origin: Origin) async throws {
        let test = try TestHost(managers: CallErrorTests.managers, from: origin)
        let trials: Remote<Trials> = try await test.host.manager("Trial")
        let relay: Remote<Relay> = try await test.host.manager("Relay")
        let path = relay.path, now = trials.path

        await test.host.stop()
        await test.host.stop()

        #expect(await error { try await relay.timeLeft() }?.code == .callRetired)
        #expect(await error { try await path() }?.code == .callRetired, "also through a method that was kept")
        #expect(await error { try await relay.path() }?.code == .callRetired)
        #expect(await error { try now() }?.code == .callRetired)
        #expect(await error { try await test.host.manager("Trial", as: Trials.self) }?.code == .hostStopped)
        #expect(await error { try await test.host.manager("Unknown", as: Trials.self) }?.code == .hostStopped)
        #expect(await error { try await test.call("Trial", "path") }?.code == .hostStopped)
        #expect(await error { try await test.host.start() }?.code == .hostStopped)
    }

    @Test func `a host that never started stops, and leaves nothing behind when it is asked after that`() async throws {
        let test = try TestHost(managers: CallErrorTests.managers, from: .libraries)
        await test.host.stop()
        #expect(await error { try await test.host.start() }?.code == .hostStopped)
        _ = await test.host.managers
        _ = await test.host.check()
        #expect(test.loadFolders() == [])
    }

    @Test func `calls under way when the stop begins end first, and no new ones begin`() async throws {
        let key = #function, gate = Gate.named(key)
        let test = try TestHost(GatePlugin.manifest(key), plugins: [GatePlugin.self], stopLimit: .seconds(60))
        let host = test.host
        let passage: Remote<Passage> = try await host.manager("Gate")
        let typed = Task { try await passage.pass() }
        let named = Task { try await test.call("Gate", "pass") }
        try await gate.calls.arrivals(2)

        let stop = Task { await host.stop() }
        await eventually { (try? await passage.echo("in time")) == nil }
        #expect(await error { try await passage.echo("late") }?.code == .callRetired)
        #expect(!test.log.lines.contains("Gate stop"))
        gate.calls.open()

        #expect(try await typed.value == "passed")
        #expect(try await named.value == #""passed""#)
        await stop.value
        #expect(test.log.lines == ["Gate passed", "Gate passed", "Gate stop"])
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a call under way when the stop begins is still cancelled with its task`(lanes: LaneRule) async throws {
        let key = "\(#function) \(lanes)", gate = Gate.named(key)
        let test = try TestHost(
            GatePlugin.manifest(key), plugins: [GatePlugin.self], lanes: lanes, stopLimit: .seconds(300))
        let passage: Remote<Passage> = try await test.host.manager("Gate")
        let call = Task { try await passage.pass() }
        try await gate.calls.arrivals()
        let stop = Task { await test.host.stop() }
        await eventually { (try? await passage.echo("in time")) == nil }

        call.cancel()  // ends the wait at the gate, which nobody opens

        #expect(try await call.value == "passed")
        await stop.value
        #expect(test.log.lines.contains("Gate stop"))
    }

    @Test func `concurrent stops return when the host has stopped, not before`() async throws {
        let key = #function, gate = Gate.named(key)
        let test = try TestHost(GatePlugin.manifest(key), plugins: [GatePlugin.self], stopLimit: .seconds(60))
        let passage: Remote<Passage> = try await test.host.manager("Gate")
        let call = Task { try await passage.pass() }
        try await gate.calls.arrivals()
        let stops = (0..<3).map { _ in
            Task {
                await test.host.stop()
                return test.log.lines.contains("Gate stop")
            }
        }
        await eventually { (try? await passage.echo("in time")) == nil }
        gate.calls.open()
        _ = try await call.value
        for stop in stops { #expect(await stop.value) }
    }

    @Test func `a call that does not end within the limit leaves its component as it is`() async throws {
        let key = #function, gate = Gate.named(key)
        let test = try TestHost(GatePlugin.manifest(key), plugins: [GatePlugin.self], stopLimit: .milliseconds(20))
        let passage: Remote<Passage> = try await test.host.manager("Gate")
        let call = Task { try await passage.pass() }
        try await gate.calls.arrivals()
        try await test.expiring(.milliseconds(20), .milliseconds(20)) { await test.host.stop() }
        #expect(!test.log.lines.contains("Gate stop"))
        #expect(test.log.records.contains { $0.level == .error && $0.metadata["component"] == "Gate" })
        gate.calls.open()
        #expect(try await call.value == "passed", "and the call ends as it would have")
    }

    @Test func `what a component keeps of its context does no harm`() async throws {
        let key = #function, gate = Gate.named(key)
        let test = try TestHost(GatePlugin.manifest(key), plugins: [GatePlugin.self], stopLimit: .seconds(60))
        try await test.host.start()
        let log = try #require(gate.log.withLock { $0 }), http = try #require(gate.http.withLock { $0 })
        log.info("during")
        await test.host.stop()
        log.info("after")
        #expect(test.log.lines == ["Gate during", "Gate stop"])
        let request = HTTPRequest("GET", "file:manifest")
        #expect(await error { try await http.send(request, test.host.begin()) }?.code == .callRetired)
    }

    @Test func `a wire and a context that a component keeps are inert once its host is gone`() async throws {
        for lanes in [LaneRule.fastest, .encoded] { try await expectInert(lanes) }
    }

    private func expectInert(_ lanes: LaneRule) async throws {
        weak var gone: PluginHost?
        do {
            let test = try TestHost(
                #"""
                {"manifestVersion": 1, "plugins": [],
                 "managers": {"LeakedContext": {"className": "LeakedContextManager", "uses": {"trials": "Trial"}},
                              "Trial": {"className": "TrialManager"}}}
                """#,
                plugins: [LeakedContextPlugin.self, ChallengePlugin.self], lanes: lanes)
            try await test.host.start()
            #expect(try LeakedContextManager.wires().trials.path(Call(within: nil)) == [2])
            await test.host.stop()
            gone = test.host
        }
        await eventually { gone == nil }
        let wires = try LeakedContextManager.wires()
        #expect(await error { try await wires.trials.wait(0, Call(within: nil)) }?.code == .callRetired)
        #expect(await error { try await wires.trials.wait(0, Call(within: .seconds(60))) }?.code == .callRetired)
        #expect(await error { try wires.trials.path(Call(within: nil)) }?.code == .callRetired)
        let context = try #require(LeakedContextManager.kept.withLock { $0 })
        context.log.info("nobody hears it")
        context.tasks.run { Issue.record("the component's tasks are over") }
    }
}

/// Keeps what it was made with where the test finds it, as no component should.
private final class LeakedContextManager: Manager {
    static let className = "LeakedContextManager"
    static let kept = Mutex<Context?>(nil)
    struct Wires: Wiring {
        let trials: Wire<Trials>
    }

    init(_ context: Context) { Self.kept.withLock { $0 = context } }

    static func methods(_ table: inout Methods) {}

    static func wires() throws -> Wires { try #require(kept.withLock { $0 }).wires }
}

private struct LeakedContextPlugin: Plugin {
    static let id = "org.backplane.tests.leaked-context"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(LeakedContextManager.self) }
}
