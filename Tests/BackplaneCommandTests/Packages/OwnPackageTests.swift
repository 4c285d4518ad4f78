import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

/// The package of docs/reference/plugins-that-call-each-other.md, with plugins that depend on this one by path.
struct OwnPackage {
    static let page = "docs/reference/plugins-that-call-each-other.md"
    let packages: PackagesFolder
    private let reader: Reader
    private var package: String { packages.path + "/harbour" }
    var manifest: String { package + "/backplane.json" }
    /// Where its libraries are, once they are built.
    var libraries: String { packages.built }

    /// Writes what the page shows.
    init(with tool: Tool) throws {
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
        for block in try Page(Self.page).blocks where block.file != nil { try reader.write(block) }
    }

    struct DoesNotBuild: Error, CustomStringConvertible {
        let description: String
    }

    /// Builds it as the page says, and lets nothing be fetched.
    ///
    /// - Throws: ``DoesNotBuild`` with what the compiler said.
    func build() async throws {
        let line = try #require(try Page(Self.page).blocks.first { $0.kind == "build" }).text
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        let swift = try RunningTool(
            words + ["-j", "2", "--disable-dependency-cache"], of: "/usr/bin/env", input: nil,
            environment: packages.environmentWithoutNetwork, in: packages.path)
        let outcome = await swift.end()
        try Task.checkCancellation()
        let said = outcome.output + outcome.errors
        guard outcome.status == 0, !said.contains(/\.swift:\d+:\d+: warning:/) else {
            throw DoesNotBuild(
                description:
                    "the package in \(package) does not build without errors and warnings, status \(outcome.status):\n\(said)"
            )
        }
    }

    /// Does what the page has a reader do once all is built.
    func followPage() throws -> Int {
        try reader.follow(Page(Self.page).blocks.filter { ["run", "fails", "output"].contains($0.kind) }).outputs
    }
}

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
        #expect(try package.followPage() == 2, "the page shows what its commands print")
    }

    /// The same answers in a host, whichever lanes it takes, and the lanes that it says it took.
    private func expectLanes(_ lanes: LaneRule, native: [String]) async throws {
        let host = PluginHost(
            manifest: ManifestDocument(contentsOf: package.manifest),
            options: HostOptions(
                pluginPaths: [package.libraries], loadFolder: tool.loads, dataFolder: tool.data, lanes: lanes))
        try await host.start()
        let advice = try await host.call("Pilot", "advise", Array(#""Leith""#.utf8), host.begin())
        #expect(String(decoding: advice, as: UTF8.self) == #""Leith: 8.0 m""#)
        let warning = try await host.call("Pilot", "advise", Array(#""Oban""#.utf8), host.begin())
        #expect(String(decoding: warning, as: UTF8.self) == #""Oban: keep away""#)
        let wires = await host.wires.filter { $0.user == "Pilot" }
        #expect(wires.map(\.label).sorted() == ["tides"])
        #expect(wires.filter { $0.lane == .native }.map(\.label) == native)
        await host.stop()
    }
}
