import Backplane
import BackplaneDocuments
import ChallengeModule
import FoundationEssentials

@testable import BackplaneHost

/// A host of citizens, managers that are wired, look up and fail as they are told to.
struct Society {
    /// One manager of a manifest.
    struct Citizen {
        var number = 0
        var left: String?
        var right: String?
        var meets: [String] = []
        /// Whom to call when it is made, and whom that one asks then.
        var asks: [String]?
        var fails: String?
        var isLazy = false
        /// The name of a party, and how many have to come.
        var party: (String, Int)?

        var value: ManifestValue {
            var configuration: [String: ManifestValue] = [
                "number": .integer(Int64(number)), "meets": .array(meets.map { .string($0) }),
            ]
            if let asks { configuration["asks"] = .array(asks.map { .string($0) }) }
            if let fails { configuration["fails"] = .string(fails) }
            if let party { configuration["party"] = ["name": .string(party.0), "guests": .integer(Int64(party.1))] }
            var uses: [String: ManifestValue] = [:]
            if let left { uses["left"] = .string(left) }
            if let right { uses["right"] = .string(right) }
            var manager: [String: ManifestValue] = [
                "className": "CitizenManager", "configuration": .dictionary(configuration), "uses": .dictionary(uses),
            ]
            if isLazy { manager["activation"] = "lazy" }
            return .dictionary(manager)
        }
    }

    let test: TestHost
    let libraries: [String]
    var host: PluginHost { test.host }

    init(_ citizens: [String: Citizen], from origin: Origin = .linked, startLimit: Duration = .seconds(60)) throws {
        libraries = origin.isLoaded ? ["_Challenge"] : []
        let text = String(decoding: Self.manifest(citizens, libraries).json, as: UTF8.self)
        test = try TestHost(
            text, plugins: origin == .linked ? [ChallengePlugin.self] : [], lanes: origin.lanes, startLimit: startLimit)
    }

    static func manifest(_ citizens: [String: Citizen], _ libraries: [String]) -> ManifestValue {
        [
            "manifestVersion": 1, "plugins": .array(libraries.map { ["library": .string($0)] }),
            "managers": .dictionary(citizens.mapValues(\.value)),
        ]
    }

    func document(_ citizens: [String: Citizen]) -> ManifestDocument {
        ManifestDocument(Self.manifest(citizens, libraries))
    }

    func citizen(_ name: String) async throws(BackplaneError) -> Remote<Citizens> {
        try await host.manager(name)
    }

    /// Names and states, sorted.
    func states() async -> [String] {
        await host.managers.map { "\($0.name) \($0.state)" }
    }
}
