import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A plugin that does what the header forbids gets an error at most: nothing crashes and nothing hangs.
@Suite(.timeLimit(.minutes(10)))
struct UnrulyPluginTests {
    /// Expects a call to end at its deadline while the plugin has it.
    private func expectOverdue(_ method: String, in test: TestHost) async {
        let error = await error {
            try await test.expiring(.farAway) { try await test.call("Unruly", method, within: .farAway) }
        }
        #expect(error?.code == .callDeadline)
        #expect(error?.message.contains("before `\(method)` of Unruly answered") == true)
        // The deadline may pass while the thread has yet to enter the plugin.
        await hasReturned("Unruly", in: test)
    }

    /// Waits until the functions of a plugin that were called have returned.
    ///
    /// They may return after they have answered.
    private func hasReturned(_ manager: String, in test: TestHost) async {
        guard let calls = try? await test.host.coordinator.running(manager).calls else { return }
        await eventually { calls.callsInFlight == 0 }
    }

    @Test func `only the first answer to a call counts`() async throws {
        let test = try UnrulyPlugin.host("Unruly")
        for _ in 0..<100 { #expect(try await test.call("Unruly", "twice") == "1") }
        await test.host.stop()
    }

    @Test func `a call that is never answered ends at its deadline, and does not keep the host from stopping`()
        async throws
    {
        let test = try UnrulyPlugin.host("Unruly")
        await expectOverdue("never", in: test)
        #expect(try await test.call("Unruly", "twice") == "1")
        await test.host.stop()
    }

    @Test func `a call that is never answered and has no deadline is left behind when the host stops`() async throws {
        let test = try UnrulyPlugin.host("Unruly", stopLimit: .milliseconds(20))
        _ = try await test.call("Unruly", "twice")
        let calls = try await test.host.coordinator.running("Unruly").calls
        let call = Task { try await test.call("Unruly", "never") }
        await eventually { calls.callsInFlight > 0 }
        await test.clock.passing(.milliseconds(20)) { await test.host.stop() }
        call.cancel()  // a plugin in C without `cancel` cannot be cancelled: nobody waits for it here
    }

    @Test func `a synchronous method that does not answer at once fails, and its late answer is about nothing`()
        async throws
    {
        struct Unruliness: Contract {
            static let version: Version = "1.0.0"
            let slow = SyncMethod<Nothing, String>()
        }
        let test = try UnrulyPlugin.host("Unruly")
        let manager: Remote<Unruliness> = try await test.host.manager("Unruly")
        for error in [await error { try manager.slow() }, await error { try await test.call("Unruly", "slow") }] {
            #expect(error?.code == .componentFailed)
            #expect(error?.message == "`slow` of Unruly is synchronous but did not answer before returning")
            #expect(try await test.call("Unruly", "settle") == "null")
        }
        await test.host.stop()
    }

    @Test func `a result that is not JSON is the provider's invalid output`() async throws {
        struct Unruliness: Contract {
            static let version: Version = "1.0.0"
            let noJSON = AsyncMethod<Nothing, String>()
            let twice = AsyncMethod<Nothing, String>()
        }
        let test = try UnrulyPlugin.host("Unruly")
        let manager: Remote<Unruliness> = try await test.host.manager("Unruly")
        #expect(await error { try await manager.noJSON() }?.code == .callInvalidOutput)
        #expect(await error { try await manager.twice() }?.code == .callInvalidOutput, "JSON of another type")
        await test.host.stop()
    }

    // MARK: Lifecycle

    @Test(arguments: [("NeverMade", "be created"), ("NeverActive", "be activated")])
    func `a component that never starts is abandoned at the limit, and not released while it may be working`(
        name: String, step: String
    ) async throws {
        let limit = Duration.seconds(7), test = try UnrulyPlugin.host(name, startLimit: limit)
        let call = Task { try await test.call(name, "twice") }
        // The limit must not pass in the step before.
        let lines = name == "NeverActive" ? ["NeverActive created"] : []
        await eventually { test.log.lines == lines }
        let overdue = await test.clock.passing(limit) { await error { try await call.value } }
        #expect(overdue?.code == .callDeadline)
        #expect(overdue?.location == "/managers/\(name)")
        #expect(overdue?.message.hasSuffix(step) == true)
        await test.host.stop()
        #expect(test.log.lines == lines)
    }

    @Test
    func `a function that never returns costs its own thread: the limit passes, and others start, are called and stop`()
        async throws
    {
        let test = try UnrulyPlugin.host("MadeForEver", "Unruly", startLimit: .seconds(10))
        let overdue = await error {
            try await test.expiring(.seconds(10)) { try await test.call("MadeForEver", "has", "backplane.log") }
        }
        #expect(overdue?.code == .callDeadline)
        #expect(try await test.call("Unruly", "has", "backplane.log") == "true")
        await test.host.stop()
        #expect(test.log.lines == ["Unruly released"])
    }

    @Test func `a component that never stops is left behind at the limit`() async throws {
        let test = try UnrulyPlugin.host("NeverStopped", "Unruly", stopLimit: .milliseconds(50))
        // One after the other: the plugin writes to the log of the one that was made last.
        for manager in ["NeverStopped", "Unruly"] { _ = try? await test.call(manager, "has") }
        #expect(await test.host.managers.map(\.state.description) == ["ready", "ready"])
        for manager in ["NeverStopped", "Unruly"] { await hasReturned(manager, in: test) }
        await test.clock.passing(.milliseconds(50)) { await test.host.stop() }
        #expect(test.log.records.contains { $0.level == .error && $0.metadata["component"] == "NeverStopped" })
        #expect(test.log.lines == ["Unruly released"])
        #expect(test.loadFolders() == [])
    }
}
