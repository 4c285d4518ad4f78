import Foundation
import TestFixtures
import Testing

/// Hosts whose stores lie on a file system that is full or read-only: they say so, serve on, and end in order.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct StoreDiskTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}],
             "managers": {"NumberStore": {"className": "NumberStore", "dataAccessController": {"className": "Shelf"}}}}
            """, as: "number-store.json")
        try FileManager.default.createDirectory(atPath: tool.data, withIntermediateDirectories: true)
    }

    private func ask(_ method: String, _ input: String...) async throws -> Tool.Outcome {
        try await tool.start(["call", "--running", "NumberStore", method] + input).end()
    }

    private func numbers() async throws -> [String] {
        let list = try await ask("list")
        try #require(list.status == 0, "\(list.errors)")
        return try JSONDecoder().decode([String].self, from: Data(list.output.utf8))
    }

    private func expectEnd(of running: RunningTool) async {
        running.signal(SIGTERM)
        let end = await running.end()
        #expect(end.status == 0 && end.output.hasSuffix("stopped\n"), "\(end.output)\(end.errors)")
    }

    @Test func `on a full disk a write is refused by name, and what was acknowledged stays`() async throws {
        let running = try await tool.startRun(
            manifest, after: "mount -t tmpfs -o size=256k,mode=0700 none '\(tool.data)'")
        var kept = 0, refusal: String?
        while refusal == nil, kept < 1_000 {
            let outcome = try await ask("keep", "\(kept)")
            if outcome.status == 0 { kept += 1 } else { refusal = outcome.errors }
        }
        #expect(
            refusal?.contains("store.unusable") == true && refusal?.contains("the disk is full") == true,
            "\(refusal ?? "")")
        #expect(kept > 0)
        #expect(try await numbers().count >= kept)
        await expectEnd(of: running)
    }

    @Test func `on a read-only file system the host says so at its start and at each call, and changes nothing`()
        async throws
    {
        let first = try await tool.startRun(manifest)
        #expect(try await ask("keep", "7").status == 0)
        first.signal(SIGTERM)
        _ = await first.end()
        let running = try await tool.startRun(
            manifest,
            after: "mount --bind '\(tool.data)' '\(tool.data)'; mount -o remount,bind,ro '\(tool.data)'")
        #expect(await running.logs("the store cannot be used"), "\(running.errors)")
        #expect(await running.logs("read-only"), "\(running.errors)")
        let refused = try await ask("keep", "8")
        #expect(refused.status == 1 && refused.errors.contains("store.unusable"), "\(refused.errors)")
        #expect(refused.errors.contains("read-only"), "\(refused.errors)")
        await expectEnd(of: running)
        let again = try await tool.startRun(manifest)
        #expect(try await numbers().count == 1)
        again.signal(SIGTERM)
        _ = await again.end()
    }
}
