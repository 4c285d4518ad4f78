import Foundation
import Glibc
import TestFixtures
import Testing

/// Manifests with very many values or keys, read in a process of its own: time and memory are as their sizes say.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct LargeManifestTests {
    /// Manifests of one kind, whose only manager has a configuration with `count` of what the kind is about.
    struct Family: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        let configuration: @Sendable (_ count: Int) -> String

        func document(_ count: Int) -> Data {
            Data(
                #"{"manifestVersion":1,"managers":{"A":{"className":"A","configuration":\#(configuration(count))}}}"#
                    .utf8)
        }
    }
    static let families = [
        Family(testDescription: "1,000,000 values", count: 1_000_000) { count in
            #"{"a":[\#((0..<count).map { "\($0)" }.joined(separator: ","))]}"#
        },
        Family(testDescription: "100,000 keys", count: 100_000) { count in
            "{\((0..<count).map { #""k\#($0)":1"# }.joined(separator: ","))}"
        },
    ]
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// What it cost to check a manifest: seconds of a processor, and the most memory at once, in bytes.
    private struct Cost {
        var time: Double
        var memory: Int
    }

    private func check(_ document: Data) throws -> Cost {
        let path = tool.folder + "/large.json", program = Tool.built + "/backplane"
        try document.write(to: URL(filePath: path))
        var actions = posix_spawn_file_actions_t(), process: pid_t = 0
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number: Int32 in [1, 2] { posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0) }
        let arguments = [program, "check", path, "--load-folder", tool.loads]
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let spawned = posix_spawn(&process, program, &actions, nil, &words, environ)
        try #require(spawned == 0)
        var cost = Cost(time: 0, memory: 0), found = siginfo_t()
        // The kernel notes the most memory, but forgets it with the process.
        while waitid(P_PID, id_t(process), &found, WEXITED | WNOHANG | WNOWAIT) == 0, found.si_signo == 0 {
            cost.memory = max(cost.memory, Self.highest(of: process) ?? 0)
            usleep(1_000)
        }
        var status: Int32 = 0, usage = rusage()
        while wait4(process, &status, 0, &usage) < 0 && errno == EINTR {}
        // There is no class `A`: the manifest has been read and resolved by the time that is said.
        try #require(status == 1 << 8, "check ended with \(status)")
        for time in [usage.ru_utime, usage.ru_stime] { cost.time += Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return cost
    }

    private static func highest(of process: pid_t) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }

    /// Eight times the manifest would be 64 times the work if each of its parts were compared with each other one.
    @Test(arguments: families)
    func `what a large manifest costs grows as it does`(_ family: Family) throws {
        func least(_ count: Int) throws -> Double {
            try (0..<3).map { _ in try check(family.document(count)).time }.min()!
        }
        let start = try least(0), few = try least(family.count / 8) - start
        let document = family.document(family.count)
        var cost = try check(document)
        // Other programs on the same processor make it cost more time, and one that stood still has seen no memory.
        for _ in 0..<4 where cost.memory == 0 || cost.time - start >= 24 * max(few, 0.01) {
            let again = try check(document)
            cost = Cost(time: min(cost.time, again.time), memory: max(cost.memory, again.memory))
        }
        let many = cost.time - start
        #expect(many < 24 * max(few, 0.01), "\(family.testDescription): \(few) s and \(many) s of a processor")
        #expect(cost.memory > 0)
        #expect(
            cost.memory < (200 << 20) + 20 * document.count,
            "\(cost.memory >> 20) MB for a manifest of \(document.count >> 10) KB")
    }
}
