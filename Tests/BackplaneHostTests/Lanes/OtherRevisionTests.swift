import Backplane
import BackplaneDocuments
import BackplaneTestKit
import CBackplane
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// A Swift plugin with another revision of the SDK's lane gets no slots of the host's; it makes its own and calls as a
/// plugin in C does.
@Suite(.timeLimit(.minutes(10)))
struct OtherRevisionTests {
    private static let entry:
        @Sendable @convention(c) (UnsafePointer<bp_offer>, UnsafeMutablePointer<bp_answer>) -> Int32 = {
            offer, answer in
            let status = ChallengePlugin.enter(offer, answer)
            answer.pointee.lane_revision = BP_LANE_REVISION + 1
            return status
        }

    private func with(_ body: (PluginHost, Remote<Trials>, Remote<Relay>) async throws -> Void) async throws {
        let folder = try TestFolder()
        let manifest = ManifestDocument([
            "manifestVersion": 1, "plugins": [],
            "managers": [
                "Trial": ["className": "TrialManager"],
                "Relay": ["className": "RelayManager", "uses": ["trials": "Trial"]],
            ],
        ])
        let host = PluginHost(
            manifest: manifest, linked: [LinkedPlugin(named: "challenge", entry: Self.entry)],
            options: HostOptions(loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data"))
        try await body(host, host.manager("Trial"), host.manager("Relay"))
        await host.stop()
    }

    @Test func `It is called, and calls others, through the host`() async throws {
        try await with { host, trials, relay in
            #expect(try trials.path() == [])
            let path = try await relay.path()
            #expect(path.count == 1)
            #expect(await error { try await relay.fail("no") }?.failure?.code == "trial.trouble")
            let left = try await relay.timeLeft(host.begin(within: .seconds(1_000)))
            #expect(left.map { $0 > 0 && $0 <= 1_000 } == true)
        }
    }

    @Test func `The host says how each wire crosses and why`() async throws {
        try await with { host, trials, relay in
            let reason =
                "plugin `org.backplane.tests.challenge` uses revision \(BP_LANE_REVISION + 1) of the native lane, but this host uses \(BP_LANE_REVISION)"
            let wires = await host.wires
            #expect(wires.map(\.user) == ["Relay", nil, nil])
            #expect(wires.map(\.provider) == ["Trial", "Trial", "Relay"])
            #expect(wires.allSatisfy { $0.lane == .encoded(because: reason) })
        }
    }
}
