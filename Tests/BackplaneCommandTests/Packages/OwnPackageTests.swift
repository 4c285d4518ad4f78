import Backplane
import BackplaneHost
import TestFixtures
import Testing

/// Plugins in a package of their own: it fetches no engines, and what it builds is called in both lanes.
@Suite(.nightly, .timeLimit(.minutes(15)))
struct OwnPackageTests {
    private let tool: Tool
    private let package: OwnPackage

    init() throws {
        tool = try Tool()
        package = try OwnPackage(with: tool)
    }

    /// One test, since a build may take minutes.
    @Test
    func `a package that depends on this one fetches no engines, and its plugins call each other natively and encoded`()
        async throws
    {
        try await package.build()
        #expect(package.packages.fetched() == ["swift-argument-parser"])
        try await expectLanes(.fastest, native: ["tides"])
        try await expectLanes(.encoded, native: [])
        #expect(try package.followPage() == 3, "the page shows what its commands print")
    }

    /// The same answers in a host, whichever lanes it takes, and the lanes that it says it took.
    private func expectLanes(_ lanes: LaneRule, native: [String]) async throws {
        let host = PluginHost(
            manifest: ManifestDocument(contentsOf: package.manifest),
            options: HostOptions(
                pluginPaths: [package.libraries], loadFolder: tool.loads, dataFolder: tool.data, lanes: lanes))
        try await host.start()
        let advice = try await host.call("Pilot", "advise", Array(#""Leith""#.utf8), host.begin())
        #expect(String(decoding: advice, as: UTF8.self) == #""Leith: 8.0 m now, 9.5 m with the tide""#)
        let warning = try await host.call("Pilot", "advise", Array(#""Oban""#.utf8), host.begin())
        #expect(String(decoding: warning, as: UTF8.self) == #""Oban: keep away""#)
        let wires = await host.wires.filter { $0.user == "Pilot" }
        #expect(wires.map(\.label).sorted() == ["tides"])
        #expect(wires.filter { $0.lane == .native }.map(\.label) == native)
        await host.stop()
    }
}
