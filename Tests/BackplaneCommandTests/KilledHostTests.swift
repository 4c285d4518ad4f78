import Foundation
import Testing

/// What a host that was killed leaves: its load folder for the next one to remove, and its data for good.
@Suite(.timeLimit(.minutes(10)))
struct KilledHostTests {
    @Test func `the next host removes the folder of one that was killed, and not that of one that lives`() async throws
    {
        let tool = try Tool()
        _ = try await tool.run("call", Tool.almanac, "AlmanacManager", "on", "\"07-20\"")
        let kept = try files(below: tool.data)
        #expect(kept.contains { $0.hasSuffix("/events.json") })

        let living = try await tool.startRun(Tool.almanac)
        let own = tool.loadFolders()
        let killed = try await tool.startRun(Tool.almanac)
        let left = tool.loadFolders().filter { !own.contains($0) }
        #expect(own.count == 1 && left.count == 1)

        killed.signal(SIGKILL)
        #expect(await killed.end().status == -SIGKILL)
        #expect(tool.loadFolders().sorted() == (own + left).sorted(), "nobody was there to remove it")

        let next = try await tool.run("call", Tool.almanac, "ClockManager", "now")
        #expect(next.status == 0, "\(next.errors)")
        #expect(tool.loadFolders() == own)
        #expect(try files(below: tool.data) == kept)

        living.signal(SIGTERM)
        #expect(await living.end().status == 0)
        #expect(tool.loadFolders() == [])
        #expect(try files(below: tool.data) == kept)
    }

    /// The files, without those beside the store's that are there while a process has it open, and after it was killed.
    private func files(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
            !["-wal", "-shm", ".open"].contains { path.hasSuffix("/store.sqlite\($0)") }
        }
        .sorted()
    }
}
