import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import FoundationEssentials
import TestFixtures

@testable import BackplaneHost

/// A host of peers: managers that are wired, look one another up and fail as configured.
struct PeerHost {
    /// One manager of a manifest.
    struct Peer {
        var number = 0
        var left: String?
        var right: String?
        var meets: [String] = []
        /// The manager to call when it is created, and the manager that it calls in turn.
        var asks: [String]?
        var fails: String?
        var isLazy = false
        /// The name of a barrier, and how many managers have to reach it.
        var barrier: (String, Int)?

        var value: ManifestValue {
            var configuration: [String: ManifestValue] = [
                "number": .integer(Int64(number)), "meets": .array(meets.map { .string($0) }),
            ]
            if let asks { configuration["asks"] = .array(asks.map { .string($0) }) }
            if let fails { configuration["fails"] = .string(fails) }
            if let barrier {
                configuration["barrier"] = ["name": .string(barrier.0), "count": .integer(Int64(barrier.1))]
            }
            var uses: [String: ManifestValue] = [:]
            if let left { uses["left"] = .string(left) }
            if let right { uses["right"] = .string(right) }
            var manager: [String: ManifestValue] = [
                "className": "PeerManager", "configuration": .dictionary(configuration), "uses": .dictionary(uses),
            ]
            if isLazy { manager["activation"] = "lazy" }
            return .dictionary(manager)
        }
    }

    let test: TestHost
    let libraries: [String]
    var host: PluginHost { test.host }

    init(_ peers: [String: Peer], from origin: Origin = .linked, startLimit: Duration = .seconds(60)) throws {
        libraries = origin.isLoaded ? ["_Challenge"] : []
        let text = String(decoding: Self.manifest(peers, libraries).json, as: UTF8.self)
        test = try TestHost(
            text, plugins: origin == .linked ? [ChallengePlugin.self] : [], lanes: origin.lanes, startLimit: startLimit,
            stopLimit: .seconds(60))
    }

    static func manifest(_ peers: [String: Peer], _ libraries: [String]) -> ManifestValue {
        [
            "manifestVersion": 1, "plugins": .array(libraries.map { ["library": .string($0)] }),
            "managers": .dictionary(peers.mapValues(\.value)),
        ]
    }

    func document(_ peers: [String: Peer]) -> ManifestDocument {
        ManifestDocument(Self.manifest(peers, libraries))
    }

    func peer(_ name: String) async throws(BackplaneError) -> Remote<Peers> {
        try await host.manager(name)
    }

    /// Names and states, sorted.
    func states() async -> [String] {
        await host.managers.map { "\($0.name) \($0.state)" }
    }
}
