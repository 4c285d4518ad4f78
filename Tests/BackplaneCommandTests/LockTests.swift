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
}
