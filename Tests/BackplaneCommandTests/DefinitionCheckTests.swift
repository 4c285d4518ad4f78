import Foundation
import Testing

/// `backplane check` and `new` for definitions of web services.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionCheckTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func `mistakes of a definition are listed, each with its line and column`() async throws {
        let path = try tool.write(
            """
            {
              "search:": { "request": { "path": "/a?q=%1" } },
              "all": { "request": { "pth": "/b" } },
              "none": {}
            }
            """, as: "Pharmacies.json")
        let outcome = try await tool.plain("check", path)
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        let lines = outcome.output.split(separator: "\n").map { String($0.trimmingPrefix(path)) }
        let expected = [
            (":3:25: warning: /all/request/pth:", "[definition.unknown-key]"),
            (":3:12: warning: /all/request/path:", "[definition.missing-key]"),
            (":4:3: error: /none/request:", "[definition.missing-key]"),
            (":2:29: error: /search:/request/path:", "[definition.indicator]"),
            (": 2 errors, 2 warnings", ""),
        ]
        #expect(lines.count == expected.count, "\(outcome.output)")
        for (line, (start, end)) in zip(lines, expected) {
            #expect(line.hasPrefix(start) && line.hasSuffix(end), "\(line)")
        }
    }

    @Test func `warnings fail a strict check, and a definition has no lock`() async throws {
        let path = try tool.write(#"{"m": {"request": {"path": "a#b"}}}"#, as: "x.json")
        #expect(try await tool.plain("check", path).status == 0)
        #expect(try await tool.plain("check", path, "--strict").status == 1)
        let locked = try await tool.plain("check", path, "--lock")
        #expect(locked.status == 1)
        #expect(locked.errors.contains("manifest.unsupported"))
    }

    @Test func `new writes a definition without a problem, and overwrites none`() async throws {
        let outcome = try await tool.plain("new", "definition", tool.folder + "/web/Pharmacies")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let path = tool.folder + "/web/Pharmacies.json"
        #expect(outcome.output.hasPrefix("wrote \(path)\n"))
        #expect(outcome.output.contains(" check \(path)\n"))
        let checked = try await tool.plain("check", "--strict", path)
        #expect(checked.output == "\(path): no problems\n")
        #expect(checked.status == 0)
        let again = try await tool.plain("new", "definition", tool.folder + "/web/Pharmacies")
        #expect(again.status == 1)
        #expect(again.errors.contains("new.exists"))
        #expect(try await tool.plain("new", "definition", "web service").status == 64)
    }
}
