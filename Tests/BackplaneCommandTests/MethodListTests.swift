import Backplane
import BackplaneControl
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// What `call` says without a method.
@Suite(.timeLimit(.minutes(10)))
struct MethodListTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func `the methods are listed with what they take and give, and an example that can be pasted`() async throws {
        let listed = try await tool.run("call", Tool.almanac, "AlmanacManager")
        #expect(listed.status == 0, "\(listed.errors)")
        let lines = listed.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.split(separator: " ") == ["METHOD", "INPUT", "OUTPUT"])
        #expect(lines.contains { $0.hasPrefix("on ") && $0.contains("string") }, "\(listed.output)")
        let example = try #require(lines.last?.split(separator: "for example: backplane ").last, "\(listed.output)")
        let line = "exec \(BuiltProducts.folder)/backplane \(example) --data \(tool.data) --load-folder \(tool.loads)"
        let called = try await RunningTool(
            ["-c", line], of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder]
        ).end()
        // It has the right shape, and a value that the method may refuse.
        #expect(called.status == 0 || called.errors.contains("component.failed"), "\(example)\n\(called.errors)")
    }

    @Test(arguments: [["--explain"], ["--trace"], ["--limit", "1"], ["--timeout", "5"]])
    func `options of calls are refused without a method`(options: [String]) async throws {
        let listed = try await tool.start(["call", Tool.almanac, "AlmanacManager"] + options).end()
        #expect(listed.status == 64 && listed.errors.contains("\(options[0]) applies to a call"), "\(listed.errors)")
    }

    @Test func `as JSON they have JSON Schemas`() async throws {
        let listed = try await tool.run("call", Tool.almanac, "AlmanacManager", "--json")
        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]], "\(listed.errors)")
        #expect(rows.compactMap { $0["method"] as? String } == ["on", "events"])
        #expect(rows.compactMap { ($0["input"] as? [String: String])?["type"] } == ["string", "null"])
        #expect(rows.last?["kind"] as? String == "stream")
        let event = rows.last?["output"] as? [String: Any]
        #expect((event?["propertyOrder"] as? [String]) == ["day", "year", "text"])
    }
}
