import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// The end of a host, of which everybody who has asked it something is told.
@Suite(.timeLimit(.minutes(5)))
struct OrderedEndTests {
    private let slowCall = CallRequest(manager: "Trial", method: "wait", input: "3600", timeout: .seconds(3_600))

    /// Waits until the plugin has the calls: the host's statistics count them before that.
    private func eventuallyInFlight(_ count: Int, _ host: PluginHost) async throws {
        let calls = try await host.coordinator.running("Trial").calls
        await eventually { Callbacks.callsUnderWay(of: calls).count == count }
    }

    @Test func `a call under way ends with the host, whose log names what was left`() async throws {
        let test = try TestHost(managers: ControlFixture.managers, from: .linked, stopLimit: .milliseconds(20))
        let call = Task { await error { try await test.call("Trial", "wait", "3600") } }
        try await eventuallyInFlight(1, test.host)
        try await test.expiring(.milliseconds(20), .milliseconds(20)) { await test.host.stop() }
        #expect(await call.value?.code == .hostStopped)
        let line = try #require(test.log.records.first { $0.level == .error })
        #expect(line.metadata["component"] == "Trial" && line.metadata["methods"] == "wait", "\(line)")
    }

    @Test func `each client that waits is told before the end`() async throws {
        let fixture = try ControlFixture(stopLimit: .milliseconds(20)), slowCall = slowCall
        let calls = (0..<4).map { _ in Task { await fixture.ask(slowCall) } }
        try await eventuallyInFlight(4, fixture.host)
        let silent = try fixture.connect("{")
        fixture.control.close()
        try await fixture.test.expiring(.milliseconds(20), .milliseconds(20)) { await fixture.host.stop() }
        #expect(await fixture.control.finish(within: .seconds(60)) == [])
        for call in calls {
            let answer = await call.value
            #expect(answer.code == .hostStopped)
        }
        let told = await onThread { try? silent.rest(until: .now + .seconds(60)) }
        #expect(told?.contains("host.stopped") == true)
    }

    @Test func `who connects while the host stops is told`() async throws {
        let fixture = try ControlFixture()
        await fixture.host.stop()
        let late = await fixture.ask(slowCall)
        #expect(late.code == .hostStopped)
    }
}
