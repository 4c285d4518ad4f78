import Backplane
import BackplaneDocuments
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// The lane of a wire is in its slot: it changes with a flip, and the caller does not notice.
@Suite(.timeLimit(.minutes(10)))
struct LaneChangeTests {
    @Test
    func `A flip changes the lane, of a method that was kept too, and a call under way ends in the lane it began in`()
        async throws
    {
        let coordinator = Coordinator(
            ManifestDocument([
                "manifestVersion": 1, "plugins": [], "managers": ["Trial": ["className": "TrialManager"]],
            ]),
            linked: [LinkedPlugin(ChallengePlugin.self)], HostOptions(lanes: .fastest))
        let trials = Remote<Trials>(try await coordinator.slot(to: "Trial", as: Trials.self)),
            infinity = trials.infinity
        let component = try await coordinator.running("Trial"), gate = try await coordinator.gate(of: "Trial")
        let native = Binding(try #require(component.instance.nativeCells), counting: .best),
            encoded = Binding(Cells(Trials.self, calling: component.target), counting: .best)

        // What JSON does not have shows the lane.
        for _ in 0..<3 {
            #expect(try await infinity() == .infinity)
            #expect(try await trials.infinity() == .infinity)
            gate.open { _, _ in encoded }
            #expect(await error { try await infinity() }?.code == .callInvalidOutput)
            #expect(await error { try await trials.infinity() }?.code == .callInvalidOutput)
            #expect(try trials.path() == [])
            gate.open { _, _ in native }
        }

        let underWay = Task { try await trials.wait(3_600) }
        try await eventually { try trials.waits() == 1 }
        gate.open { _, _ in encoded }
        #expect(native.callsInFlight == 1 && encoded.callsInFlight == 0)
        underWay.cancel()
        #expect(await error { try await underWay.value }?.code == .callCancelled)
        #expect(try trials.cancellations() == 1)
        #expect(native.callsInFlight == 0)
        await coordinator.stop()
    }
}
