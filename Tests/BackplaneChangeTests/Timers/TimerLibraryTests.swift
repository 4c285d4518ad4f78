import Backplane
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// Timers and another configuration in a Swift library that is loaded from its file and swapped.
@Suite(.timeLimit(.minutes(5)))
struct TimerLibraryTests {
    private static func manifest(_ configuration: String, library: String = "_Challenge") -> String {
        """
        {"manifestVersion": 1, "plugins": [{"library": "\(library)"}],
         "managers": {"Clock": {"className": "Timepiece", "configuration": \(configuration)}}}
        """
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a timer of a library keeps its phase when the library is swapped`(lanes: LaneRule) async throws {
        let folder = try TestFolder()
        let bytes = try FixtureLibrary.bytes("_Challenge")
        try folder.write(bytes, as: "libTimepiece.so")
        let test = try TestHost(
            Self.manifest(#"{"strikes": 1000}"#, library: "Timepiece"), linked: [], in: folder, lanes: lanes)
        let clock = test.clock
        try await test.host.start()
        try await clock.run(for: .milliseconds(1_600))
        #expect(test.strikes == ["dong"])
        // Another build of the same code: a byte after the image.
        let next = try folder.write(bytes + [0], as: "libNext.so")
        let report = try await test.host.swap(
            library: next, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        #expect(report.outcome == .changed)
        try await clock.run(for: .milliseconds(399))
        #expect(test.strikes == ["dong"])
        try await clock.run(for: .milliseconds(1_001))
        #expect(test.strikes == ["dong", "dong", "dong"])
        let row = try #require(await test.host.statistics.first)
        #expect(row.generation == 2 && row.timers.map(\.name) == ["strike"] && row.timers.map(\.runs) == [2])
        await test.host.stop()
    }
}

extension TestHost {
    /// What the timepiece wrote.
    fileprivate var strikes: [String] { log.records.filter { $0.source == "Clock" }.map(\.message) }

    fileprivate func apply(_ manifest: String) async throws -> ChangeReport {
        try await host.apply(ManifestDocument(parsing: Data(manifest.utf8)))
    }
}
