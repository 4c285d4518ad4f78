import Backplane
import BackplaneTestKit
import Challenge
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// Hosts share a process and nothing else.
@Suite(.timeLimit(.minutes(10)))
struct ManyHostsTests {
    private static let manifest = """
        {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Clock"}],
         "managers": {"Trial": {"className": "TrialManager"}, "Clock": {"className": "ClockManager"}}}
        """

    @Test func `a host that is dropped without being stopped leaves a folder that the next removes`() async throws {
        let folder = try TestFolder()
        do {
            let dropped = try TestHost(Self.manifest, in: folder)
            let trials: Remote<Trials> = try await dropped.host.manager("Trial")
            #expect(try trials.path() == [])
        }
        // The host's threads let go of its lock when they end.
        try await eventually {
            let next = try TestHost(Self.manifest, in: folder)
            _ = await next.host.managers
            let count = next.loadFolders().count
            await next.host.stop()
            return count == 1
        }
    }

    @Test(arguments: Origin.allCases)
    func `two hosts at once do not disturb each other`(origin: Origin) async throws {
        let (one, two) = try (
            TestHost(managers: CallErrorTests.managers, from: origin),
            TestHost(managers: CallErrorTests.managers, from: origin)
        )
        let (first, second): (Remote<Trials>, Remote<Trials>) = try await (
            one.host.manager("Trial"), two.host.manager("Trial")
        )
        let waiting = Task { try await first.wait(3_600) }
        waiting.cancel()
        #expect(await error { try await waiting.value }?.code == .callCancelled)
        try await eventually { try first.cancellations() == 1 }
        #expect(try second.cancellations() == 0)

        let relay: Remote<Relay> = try await two.host.manager("Relay")
        await one.host.stop()
        #expect(await error { try first.cancellations() }?.code == .callRetired)
        #expect(try second.cancellations() == 0)
        #expect(try await relay.path().count == 1)
        await two.host.stop()
    }
}
