import Foundation
import Testing

/// `backplane check --lock`: the chosen versions, written into the manifest.
@Suite(.timeLimit(.minutes(10)))
struct LockTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func manifest(_ lock: String = "") throws -> String {
        try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "Clock" }],
              "managers": { "Clock": { "className": "ClockManager" } }\(lock)
            }

            """, as: "m.json")
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `it is written once, and says what changed`() async throws {
        let path = try manifest()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let first = try await tool.run("check", path, "--lock")
        #expect(first.status == 0 && first.errors == "")
        let lines = first.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["\(path): no problems", "\(path): locked"] && lines.count == 3)
        #expect(lines.last?.wholeMatch(of: /\ \ Clock: \d+\.\d+\.\d+ of plugin `[a-z.]+`/) != nil, "\(first.output)")
        let locked = try text(path)
        #expect(locked.hasPrefix(try text(manifestBefore()).dropLast(3)))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)

        let second = try await tool.run("check", path, "--lock")
        #expect(second.status == 0 && second.output == "\(path): no problems\n\(path): the lock is up to date\n")
        #expect(try text(path) == locked)
        let check = try await tool.run("check", path, "--strict")
        #expect(check.status == 0 && check.output == "\(path): no problems\n")
    }

    private func manifestBefore() throws -> String {
        try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "Clock" }],
              "managers": { "Clock": { "className": "ClockManager" } }
            }

            """, as: "before.json")
    }

    @Test func `a choice that differs is an error until it is accepted`() async throws {
        let path = try manifest(
            ",\n  \"lock\": { \"Clock\": { \"plugin\": \"org.other\", \"version\": \"0.1.0\" }, \"Gone\": { \"plugin\": \"p\", \"version\": \"1.0.0\" } }"
        )
        let refused = try await tool.run("check", path)
        #expect(refused.status == 1)
        #expect(
            refused.output.contains(
                "\(path):4:28: error: /managers/Clock/className: the lock has `ClockManager` 0.1.0 of plugin `org.other`, but the plugins now provide "
            ))
        let call = try await tool.run("call", path, "Clock", "now")
        #expect(call.status == 1 && call.errors.contains("lock.mismatch"))
        struct Report: Decodable {
            struct Side: Decodable { var plugin: String, version: String }
            struct Change: Decodable { var definition: String, before: Side?, after: Side? }
            var written: Bool, changes: [Change]
        }
        let accepted = try await tool.run("check", path, "--lock", "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(accepted.output.utf8))
        #expect(accepted.status == 0 && report.written)
        #expect(report.changes.map(\.definition) == ["Clock", "Gone"])
        #expect(
            report.changes[0].before?.version == "0.1.0" && report.changes[0].after != nil
                && report.changes[1].after == nil)
        #expect(try await tool.run("check", path, "--strict").status == 0)
    }
}
