import Foundation
import Glibc
import TestFixtures
import Testing

/// Dumps of many records, whose memory does not grow with them.
@Suite(.nightly, .timeLimit(.minutes(20)))
struct LargeDumpTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#, as: "empty.json")
    }

    /// Restores as many records from a dump, and returns its size.
    private func fill(_ data: String, _ count: Int) async throws -> Int {
        let path = tool.folder + "/dump", text = String(repeating: "Twenty thousand leagues under the sea. ", count: 10)
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        var size = 0
        for start in stride(from: 0, to: count, by: 1_000) {
            let lines = (start..<min(start + 1_000, count)).map { number in
                #"{"collection":"books","id":"\#(1_000_000 + number)","namespace":"A","value":{"text":"\#(text)"}}"#
                    + "\n"
            }
            let bytes = Data(lines.joined().utf8)
            try file.write(contentsOf: bytes)
            size += bytes.count
        }
        try file.close()
        let outcome = try await tool.start(["store", "restore", path, "--manifest", manifest, "--data", data]).end()
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "restored \(count) records\n")
        return size
    }

    /// Dumps a store, and returns the size of the dump and the most memory that the process has had, in bytes.
    private func dump(_ data: String) throws -> (size: Int, memory: Int) {
        var ends: [Int32] = [0, 0], process: pid_t = 0
        let piped = pipe(&ends)
        try #require(piped == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let program = BuiltProducts.folder + "/backplane"
        let arguments = [program, "store", "dump", "--manifest", manifest, "--data", data]
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let spawned = posix_spawn(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        defer { close(ends[0]) }
        try #require(spawned == 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16), size = 0, memory = 0
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            size += count
            // While it waits for its reader: afterwards there is nothing left to look at.
            memory = max(memory, Self.highest(of: process) ?? 0)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        #expect(status == 0)
        return (size, memory)
    }

    /// The most memory that a process has had at once, as the kernel has noted it.
    private static func highest(of process: pid_t) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }

    @Test func `a dump of many records needs hardly more memory than one of few`() async throws {
        let few = tool.folder + "/few", many = tool.folder + "/many"
        _ = try await fill(few, 2_000)
        let written = try await fill(many, 150_000)
        let small = try dump(few), large = try dump(many)
        #expect(large.size > written && written > 60 << 20, "\(large.size)")
        #expect(small.memory > 0)
        #expect(large.memory - small.memory < 16 << 20, "\(small.memory) and \(large.memory) bytes")
    }
}
