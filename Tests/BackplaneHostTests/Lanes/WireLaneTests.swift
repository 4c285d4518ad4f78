import Backplane
import BackplaneTestKit
import BookshelfContracts
import Challenge
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Which lanes the wires of real libraries take, as their host says.
@Suite(.timeLimit(.minutes(10)))
struct WireLaneTests {
    /// The wires of a host, each as "who calls its name: lane".
    private func lanes(_ host: PluginHost) async -> [String: Lane] {
        Dictionary(
            await host.wires.map { ("\($0.user ?? "the program") \($0.label)", $0.lane) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test func `between libraries in Swift, and to them from the host program, they are native`() async throws {
        let test = try TestHost(
            managers: #"""
                "Sound": {"className": "ChallengeManager", "dataAccessController": {"className": "ChallengeDataAccess"},
                          "communicationController": {"className": "ChallengeCommunication", "services": [
                              {"className": "ChallengeService", "propertyName": "challengeService", "networkServiceConfiguration": {"NIFServiceName": "one"}}]}},
                "Trial": {"className": "TrialManager"}, "Relay": {"className": "RelayManager", "uses": {"trials": "Trial"}}
                """#,
            from: .libraries)
        try await test.host.start()
        _ = try await test.host.manager("Sound", as: Challenge.self)
        _ = try await test.host.manager("Relay", as: Relay.self)
        #expect(
            await lanes(test.host) == [
                "Sound dataAccessController": .native, "Sound communicationController": .native,
                "ChallengeCommunication challengeService": .native,
                "Relay trials": .native, "the program Sound": .native, "the program Relay": .native,
            ])
        await test.host.stop()
    }

    @Test func `a host that is set to encodes them all`() async throws {
        let test = try TestHost(
            managers:
                #""Trial": {"className": "TrialManager"}, "Relay": {"className": "RelayManager", "uses": {"trials": "Trial"}}"#,
            from: .encoded)
        _ = try await test.host.manager("Relay", as: Relay.self)
        let told = Lane.encoded(because: "the host is set to encode every call")
        #expect(await lanes(test.host) == ["Relay trials": told, "the program Relay": told])
        await test.host.stop()
    }
}
