import Foundation
import TestFixtures
import Testing

/// What is said about managers that cannot be had.
@Suite(.timeLimit(.minutes(10)))
struct MistakeTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func `a manager that is asked for and is not there, or cannot be made, is an error on its own`() async throws
    {
        let managers =
            #""LibraryManager": { "className": "TrialManager" }, "ClockManager": { "className": "Clock" }, "M": { "className": "", "dataAccessController": {} }"#
        let path = try tool.write(
            "{ \"manifestVersion\": 1, \"plugins\": [{ \"library\": \"_Challenge\" }], \"managers\": { \(managers) } }",
            as: "m.json")
        var text = ""
        for name in ["LibaryManager", "ClockManager", "M"] {
            let outcome = try await tool.run("call", path, name, "now")
            #expect(outcome.status == 1 && outcome.output == "")
            text += "# \(name)\n\(outcome.errors.replacing(path, with: "manifest"))\n"
        }
        try expectSnapshot(text, "mistakes-of-calls")
    }
}
