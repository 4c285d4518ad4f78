import Backplane
import BackplaneHost
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

struct ProblemListTests {
    private let list = ProblemList(manifest: "example.json", problems: Composition.books.problems)

    @Test func `problems stand manager by manager, with counts, places first and codes last`() throws {
        try expectSnapshot(list.lines(colour: false).joined(separator: "\n") + "\n", "check-list")
    }

    @Test func `warnings alone give no advice, and none is one line`() {
        let warning = Problem(
            .warning, manager: "A", BackplaneError(.manifestUnknownKey, "unknown key", at: "/managers/A/x"))
        #expect(
            ProblemList(manifest: "m.json", problems: [warning]).lines(colour: false) == [
                "m.json: warning: /managers/A/x: unknown key [manifest.unknown-key]", "m.json: 0 errors, 1 warning",
            ])
        #expect(ProblemList(manifest: "m.json", problems: []).lines(colour: false) == ["m.json: no problems"])
    }
}
