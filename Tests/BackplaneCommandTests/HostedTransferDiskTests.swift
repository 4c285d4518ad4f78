import BackplaneTestKit
import Foundation
import Testing

/// Transfers of a host whose disks are full, read-only or gone: they say so, and can be resumed.
@Suite(.timeLimit(.minutes(10)))
struct HostedTransferDiskTests {
    private let tool: Tool
    private let content = [UInt8]((0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    /// The folder on which the host has another file system than this process.
    private var disk: String { tool.folder + "/disk" }

    init() throws {
        tool = try Tool()
        for folder in [disk, tool.data] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    /// The path of a file as this process reaches it in the host's namespace.
    private func path(_ file: String, in running: RunningTool) -> String { "/proc/\(running.number)/root\(file)" }

    private func get(_ url: String, to path: String) async throws -> Tool.Outcome {
        try await tool.plain("transfer", "get", url, path, "--running")
    }

    private func expectEnd(of running: RunningTool) async {
        running.signal(SIGTERM)
        let end = await running.end()
        #expect(end.status == 0 && end.output.hasSuffix("stopped\n"), "\(end.output)\(end.errors)")
    }

    @Test func `a download to a full disk fails by name, and continues there once there is room`() async throws {
        let requests = Recording<String>(), server = try TestServer(parts: content, stalls: 0, requests)
        let url = server.url("/whale.epub"), file = disk + "/whale.epub"
        let running = try await tool.startRun(
            Tool.almanac,
            after: "mount -t tmpfs -o size=600k,mode=0700 none '\(disk)'; head -c 400000 /dev/zero > '\(disk)/other'")
        let full = try await get(url, to: file)
        #expect(full.status == 1 && full.output == "", "\(full)")
        #expect(full.errors.contains("network.file") && full.errors.contains("No space left on device"))
        #expect(try await tool.plain("transfer", "list").output.contains("failed"))
        let elsewhere = try await get(server.url("/other.epub"), to: tool.folder + "/other.epub")
        #expect(elsewhere.status == 0, "\(elsewhere.errors)")
        try FileManager.default.removeItem(atPath: path(disk + "/other", in: running))
        #expect(try await tool.plain("transfer", "resume", url).status == 0)
        let watched = try await tool.plain("transfer", "watch", url)
        #expect(watched.status == 0 && watched.output == file + "\n", "\(watched)")
        #expect(Array(try Data(contentsOf: URL(filePath: path(file, in: running)))) == content)
        let from = try #require(requests.all.last.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) })
        #expect(requests.all.count == 3 && 100_000..<200_000 ~= from, "\(requests.all)")
        await expectEnd(of: running)
    }

    @Test func `a folder that is read-only or gone fails before anything is fetched`() async throws {
        let requests = Recording<String>(), server = try TestServer(parts: content, stalls: 0, requests)
        let running = try await tool.startRun(
            Tool.almanac, after: "mount --bind '\(disk)' '\(disk)'; mount -o remount,bind,ro '\(disk)'")
        let readOnly = try await get(server.url("/whale.epub"), to: disk + "/whale.epub")
        #expect(readOnly.status == 1 && readOnly.errors.contains("network.file"), "\(readOnly)")
        #expect(readOnly.errors.contains("Read-only file system"), "\(readOnly.errors)")
        let gone = try await get(server.url("/other.epub"), to: tool.folder + "/gone/other.epub")
        #expect(gone.status == 1 && gone.errors.contains("network.file"), "\(gone)")
        #expect(gone.errors.contains("No such file or directory"), "\(gone.errors)")
        #expect(requests.all == [])
        try FileManager.default.createDirectory(atPath: tool.folder + "/gone", withIntermediateDirectories: false)
        let there = try await get(server.url("/other.epub"), to: tool.folder + "/gone/other.epub")
        #expect(there.status == 0, "the same command resumes it: \(there.errors)")
        await expectEnd(of: running)
    }

    @Test func `a transfer that the store has no room for is refused, and begins once there is`() async throws {
        let requests = Recording<String>(), server = try TestServer(parts: content, stalls: 0, requests)
        let running = try await tool.startRun(
            Tool.almanac, after: "mount -t tmpfs -o size=2m,mode=0700 none '\(tool.data)'")
        // The store is there, and then the disk is filled to its last byte.
        #expect(try await get(server.url("/whale.epub"), to: tool.folder + "/whale.epub").status == 0)
        let other = path(tool.data + "/other", in: running)
        let fill = try RunningTool(
            ["-c", "cat /dev/zero > '\(other)'"], of: "/bin/sh", input: nil)
        #expect(await fill.end().errors.contains("No space left on device"))
        let file = tool.folder + "/other.epub"
        let refused = try await get(server.url("/other.epub"), to: file)
        #expect(refused.status == 1 && refused.errors.contains("store.unusable"), "\(refused)")
        #expect(refused.errors.contains("the disk is full"), "\(refused.errors)")
        try FileManager.default.removeItem(atPath: other)
        let begun = try await get(server.url("/other.epub"), to: file)
        #expect(begun.status == 0, "\(begun.errors)")
        #expect(Array(try Data(contentsOf: URL(filePath: file))) == content)
        await expectEnd(of: running)
    }
}
