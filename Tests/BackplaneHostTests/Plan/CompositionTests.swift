import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// What tools are notified of a host that runs nothing.
@Suite(.timeLimit(.minutes(10)))
struct CompositionTests {
    /// A host of one of the example's manifests.
    private func host(_ manifest: String, _ folder: TestFolder, lanes: LaneRule = .fastest) -> PluginHost {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return PluginHost(
            manifest: ManifestDocument(contentsOf: "/\(root)/manifests/\(manifest)"),
            options: HostOptions(
                pluginPaths: [BuiltProducts.folder], loadFolder: folder.path + "/loads",
                dataFolder: folder.path + "/data", lanes: lanes))
    }

    /// A wire as the composition tells it beforehand and the host afterwards.
    private struct Crossing: Hashable {
        var user: String?, label: String, provider: String, contract: String, version: Version, lane: Lane
    }

    @Test(arguments: ["almanac.json", "bookshelf.json", "bookshelf-both.json"], [LaneRule.fastest, .encoded])
    func `The lanes it foretells are those that the wires take`(manifest: String, lanes: LaneRule) async throws {
        let folder = try TestFolder()
        let host = host(manifest, folder, lanes: lanes)
        let composition = await host.composition()
        let nodes = composition.plan.nodes
        let foretold = composition.wires.map {
            Crossing(
                user: nodes[$0.user].name, label: $0.label, provider: nodes[$0.provider].name, contract: $0.contract,
                version: $0.version, lane: $0.lane)
        }
        #expect(await host.wires.isEmpty, "nothing was started")
        try await host.start()
        let taken = await host.wires.map {
            Crossing(
                user: $0.user, label: $0.label, provider: $0.provider, contract: $0.contract, version: $0.version,
                lane: $0.lane)
        }
        await host.stop()
        #expect(!foretold.isEmpty && foretold.count == taken.count)
        #expect(Set(foretold) == Set(taken))
    }

    @Test func `A manifest that cannot be read composes nothing`() async {
        let document = ManifestDocument(parsing: Data("{".utf8), path: "half.json")
        let composition = await PluginHost(manifest: document).composition()
        #expect(composition.isEmpty && composition.managerNames == [])
        #expect(composition.unknownManager("A").message == "no manager is named `A`; there are none")
        #expect(composition.unknownManager("A").causes.map(\.code) == [.manifestMalformed])
    }
}
