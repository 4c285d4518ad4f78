import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import TurnstileContracts

@testable import BackplaneHost

/// A host of turnstiles in libraries of this package, whose manifest changes together with its code.
struct AnnexFixture {
    static let first = "Turnstile1", annex = "Annex"
    static let firstPlugin = "org.backplane.turnstile", annexPlugin = "org.backplane.benchmark-annex"
    static let options = ChangeOptions(
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60), trustsLibraries: true)
    let test: TestHost
    var host: PluginHost { test.host }

    init(
        _ managers: ManifestValue, _ plugins: [String] = [annex], lanes: LaneRule = .fastest,
        in folder: TestFolder? = nil, options change: (inout HostOptions) -> Void = { _ in }
    ) async throws {
        test = try TestHost(
            String(decoding: Self.manifest(managers, plugins).json, as: UTF8.self), linked: [], in: folder,
            lanes: lanes, change)
        try await test.host.start()
    }

    static func manifest(_ managers: ManifestValue, _ plugins: [String] = [annex]) -> ManifestValue {
        [
            "manifestVersion": 1, "plugins": .array(plugins.map { ["library": .string($0)] }), "managers": managers,
        ]
    }

    static func document(_ managers: ManifestValue, _ plugins: [String] = [annex]) -> ManifestDocument {
        ManifestDocument(manifest(managers, plugins))
    }

    func manager(_ name: String) async throws(BackplaneError) -> Remote<TurnstileContracts.Turnstile> {
        try await host.manager(name)
    }

    @discardableResult
    func swap(
        _ managers: ManifestValue, _ plugins: [String] = [annex], _ change: (inout ChangeOptions) -> Void = { _ in }
    ) async throws(BackplaneError) -> ChangeReport {
        var options = Self.options
        change(&options)
        return try await host.swap([], applying: Self.document(managers, plugins), options)
    }

    /// The managers and their states.
    var states: [String] {
        get async { await host.managers.map { "\($0.name) \($0.state)" } }
    }
}
