import Backplane
import BackplaneControl
import Foundation
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
        let line = "exec \(Tool.built)/backplane \(example) --data \(tool.data) --load-folder \(tool.loads)"
        let called = try await RunningTool(
            ["-c", line], of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder]
        ).end()
        // It has the right shape, and a value that the method may refuse.
        #expect(called.status == 0 || called.errors.contains("component.failed"), "\(example)\n\(called.errors)")
    }

    @Test func `the example for a running host asks that host`() async throws {
        let run = try await tool.startRun(Tool.almanac)
        let socket = try #require(try RunningHost.all(in: ControlFolder(tool.sockets)).first?.socket)
        for choice in [["--socket", socket], ["--running", "--manifest", Tool.almanac], ["--running"]] {
            let listed = try await tool.start(["call", "AlmanacManager"] + choice).end()
            let line = try #require(listed.output.split(separator: "\n").last, "\(listed.errors)")
            #expect(line.hasPrefix("for example: backplane call AlmanacManager "), "\(line)")
            #expect(line.hasSuffix(" " + choice.joined(separator: " ")), "\(line)")
        }
        let listed = try await tool.plain("call", "AlmanacManager", "--socket", socket)
        let example = try #require(listed.output.split(separator: "for example: backplane ").last)
        let called = try await RunningTool(
            ["-c", "exec \(Tool.built)/backplane \(example)"], of: "/bin/sh", input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder]
        ).end()
        #expect(called.status == 0 || called.errors.contains("component.failed"), "\(example)\n\(called.errors)")
        run.signal(SIGTERM)
        _ = await run.end()
    }

    @Test(arguments: [["--explain"], ["--trace"], ["--limit", "1"], ["--timeout", "5"]])
    func `options of calls are refused without a method`(options: [String]) async throws {
        let listed = try await tool.start(["call", Tool.almanac, "AlmanacManager"] + options).end()
        #expect(listed.status == 64 && listed.errors.contains("\(options[0]) applies to a call"), "\(listed.errors)")
    }

    @Test func `a number that is no integer is named`() {
        let shape = JSONShape.object([
            JSONShape.Property(name: "a", shape: .optional(.array(.integer))),
            JSONShape.Property(name: "b", shape: .number),
        ])
        func place(_ json: String) -> String? {
            let row = MethodRow(method: "m", kind: "async", input: shape, output: .any)
            return CallInput(text: json).explaining(BackplaneError(.callInvalidInput, "no"), of: row, "A.m").location
        }
        #expect(place(#"{"b": 1.5, "a": [1, -2, 1.5]}"#) == "/a/2")
        let row = MethodRow(method: "m", kind: "async", input: shape, output: .any),
            error = BackplaneError(.callInvalidInput, "no")
        let piped = CallInput(text: "-").explaining(error, of: row, "A.m", given: Array(#"{"a": [0.5]}"#.utf8))
        #expect(piped.location == "/a/0", "what is read from standard input has places, too")
        #expect(place(#"{"a": [1e40]}"#) == "/a/0" && place(#"{"a": [18446744073709551615, 1.0, "x"]}"#) == nil)
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

    @Test func `a running host lists them, too`() async throws {
        let run = try await tool.startRun(Tool.almanac)
        let own = try await tool.run("call", Tool.almanac, "AlmanacManager", "--json")
        let asked = try await tool.plain("call", "AlmanacManager", "--running", "--json")
        #expect(asked.status == 0 && asked.output == own.output, "\(asked.errors)")
        run.signal(SIGTERM)
        _ = await run.end()
    }
}
