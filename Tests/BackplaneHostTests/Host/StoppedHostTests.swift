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

    /// A host of a manager `Gate`, whose calls `pass` wait at the gate, and which logs what it does.
    private func host(
        _ gate: TestGate, lanes: LaneRule = .fastest, stopLimit: Duration = .seconds(60)
    ) async throws -> (test: TestHost, remote: Remote<Scripted>) {
        let script = Script(
            stopped: { $0.log.info("stop") },
            act: { context, text, _ in
                guard text == "pass" else { return text }
                try? await gate.pass()
                context.log.info("passed")
                return "passed"
            })
        let test = try ScriptedPlugin.host(["Gate": .init(script: script)], lanes: lanes, stopLimit: stopLimit)
        return (test, try await test.host.manager("Gate"))
    }

    @Test func `calls under way when the stop begins end first, and no new ones begin`() async throws {
        let gate = TestGate(), (test, remote) = try await host(gate)
        let typed = Task { try await remote.act("pass") }
        let named = Task { try await test.call("Gate", "act", #""pass""#) }
        try await gate.arrivals(2)

        let stop = Task { await test.host.stop() }
        await eventually { (try? await remote.act("in time")) == nil }
        #expect(await error { try await remote.act("late") }?.code == .callRetired)
        #expect(!test.log.lines.contains("Gate stop"))
        gate.open()

        #expect(try await typed.value == "passed")
        #expect(try await named.value == #""passed""#)
        await stop.value
        #expect(test.log.lines == ["Gate passed", "Gate passed", "Gate stop"])
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a call under way when the stop begins is still cancelled with its task`(lanes: LaneRule) async throws {
        let gate = TestGate(), (test, remote) = try await host(gate, lanes: lanes, stopLimit: .seconds(300))
        let call = Task { try await remote.act("pass") }
        try await gate.arrivals()
        let stop = Task { await test.host.stop() }
        await eventually { (try? await remote.act("in time")) == nil }

        call.cancel()  // ends the wait at the gate, which nobody opens

        #expect(try await call.value == "passed")
        await stop.value
        #expect(test.log.lines.contains("Gate stop"))
    }

    @Test func `concurrent stops return when the host has stopped, not before`() async throws {
        let gate = TestGate(), (test, remote) = try await host(gate)
        let call = Task { try await remote.act("pass") }
        try await gate.arrivals()
        let stops = (0..<3).map { _ in
            Task {
                await test.host.stop()
                return test.log.lines.contains("Gate stop")
            }
        }
        await eventually { (try? await remote.act("in time")) == nil }
        gate.open()
        _ = try await call.value
        for stop in stops { #expect(await stop.value) }
    }

    @Test func `a call that does not end within the limit leaves its component as it is`() async throws {
        let gate = TestGate(), (test, remote) = try await host(gate, stopLimit: .milliseconds(20))
        let call = Task { try await remote.act("pass") }
        try await gate.arrivals()
        try await test.expiring(.milliseconds(20), .milliseconds(20)) { await test.host.stop() }
        #expect(!test.log.lines.contains("Gate stop"))
        #expect(test.log.records.contains { $0.level == .error && $0.metadata["component"] == "Gate" })
        gate.open()
        #expect(try await call.value == "passed", "and the call ends as it would have")
    }

    /// Keeps its client where the test finds it, as no component should.
    private final class KeepingCommunication: CommunicationController {
        static let kept = Mutex<HTTPClient?>(nil)

        init(_ context: Context) { Self.kept.withLock { $0 = context.http } }
    }

    @Test func `a wire and a context that a component keeps are inert, also when its host is gone`() async throws {
        for lanes in [LaneRule.fastest, .encoded] { try await expectInert(lanes) }
    }

    private func expectInert(_ lanes: LaneRule) async throws {
        weak var gone: PluginHost?
        let kept = Mutex<ScriptedManager.Context?>(nil), log = TestLog()
        let script = Script(made: { context in kept.withLock { $0 = context } })
        guard case .dictionary(var manager) = ScriptedPlugin.Part(script: script, left: "Other").value else { return }
        manager["communicationController"] = ["className": "KeepingCommunication"]
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": [],
            "managers": ["Keeper": .dictionary(manager), "Other": ScriptedPlugin.Part().value],
        ]
        let keeping = LinkedPlugin(id: "org.backplane.tests.keeping", version: "1.0.0") {
            $0.add(KeepingCommunication.self)
        }
        do {
            let test = try TestHost(
                String(decoding: manifest.json, as: UTF8.self), linked: [LinkedPlugin(ScriptedPlugin.self), keeping],
                log: log, lanes: lanes)
            try await test.host.start()
            let context = try #require(kept.withLock { $0 })
            #expect(try await context.wires.left?.act("there", context.begin()) == "there")
            context.log.info("during")
            await test.host.stop()
            gone = test.host
        }
        await eventually { gone == nil }
        let context = try #require(kept.withLock { $0 }), wire = try #require(context.wires.left)
        #expect(await error { try await wire.act("", Call(within: nil)) }?.code == .callRetired)
        #expect(await error { try await wire.act("", Call(within: .seconds(60))) }?.code == .callRetired)
        #expect(await error { try wire.actNow("", Call(within: nil)) }?.code == .callRetired)
        context.log.info("nobody hears it")
        #expect(log.lines == ["Keeper during"])
        context.tasks.run { Issue.record("the component's tasks are over") }
        let http = try #require(KeepingCommunication.kept.withLock { $0 })
        let request = HTTPRequest("GET", "file:manifest")
        #expect(await error { try await http.send(request, Call(within: nil)) }?.code == .callRetired)
    }
}
