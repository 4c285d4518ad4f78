import Backplane
import Foundation
import Testing

@testable import BackplaneTools

/// The files that wire editors up, against what `backplane dev --json` really prints.
struct EditorTextTests {
    private struct Tasks: Decodable {
        struct Task: Decodable {
            var label: String
            var problemMatcher: [Matcher]
        }
        struct Matcher: Decodable {
            struct Background: Decodable { var beginsPattern, endsPattern: String }
            struct Pattern: Decodable { var regexp: String, file, line, column, severity, message: Int }
            var background: Background?
            var pattern: Pattern
        }
        var tasks: [Task]
    }

    private func matchers() throws -> [Tasks.Matcher] {
        let tasks = try JSONDecoder().decode(Tasks.self, from: Data(try Template.text("tasks.json").utf8)).tasks
        return try #require(tasks.first { $0.label == "backplane dev" }).problemMatcher
    }

    private func found(_ pattern: Tasks.Matcher.Pattern, in text: String) throws -> [String]? {
        let regex = try NSRegularExpression(pattern: pattern.regexp), whole = NSRange(text.startIndex..., in: text)
        guard let match = regex.firstMatch(in: text, range: whole) else { return nil }
        return [pattern.file, pattern.line, pattern.column, pattern.severity, pattern.message].map { number in
            Range(match.range(at: number), in: text).map { String(text[$0]) } ?? ""
        }
    }

    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        let regex = try NSRegularExpression(pattern: pattern)
        return regex.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    @Test func `a diagnostic of a build is a problem of the editor, notes are none`() throws {
        let matcher = try matchers()[0]
        for severity in ["error", "warning"] {
            let diagnostic = try #require(
                Diagnostic("/home/ada/a b/Notes.swift:15:46: \(severity): cannot convert \"x\" to '{}'"))
            let line = DevEvent.diagnostic(.init(product: "Notes", diagnostic: diagnostic)).json(at: 1)
            #expect(
                try found(matcher.pattern, in: line) == [
                    "/home/ada/a b/Notes.swift", "15", "46", severity, #"cannot convert \"x\" to '{}'"#,
                ], "\(line)")
        }
        let note = try #require(Diagnostic("/a.swift:1:2: note: see here"))
        let line = DevEvent.diagnostic(.init(product: "Notes", diagnostic: note)).json(at: 1)
        #expect(try found(matcher.pattern, in: line) == nil)
        let begins = DevEvent.buildStarted(.init(product: "A", package: "/a", isSwapped: false, because: [])).json(
            at: 1)
        #expect(try matches(try #require(matcher.background).beginsPattern, begins))
        let ends = DevEvent.buildEnded(
            .init(
                product: "A", outcome: .failed, seconds: 0, isChanged: false, isSwapped: true, text: ["x"])
        ).json(at: 1)
        #expect(try matches(try #require(matcher.background).endsPattern, ends))
    }

    @Test func `a mistake in a manifest is one, too`() throws {
        let refusal = DevEvent.Refusal(
            subject: .manifest, error: BackplaneError(.manifestMalformed, "1 error"),
            problems: ["backplane.json:4:9: error: unknown key `plugns` [manifest.unknown-key]"])
        let line = DevEvent.refused(refusal).json(at: 1)
        #expect(
            try found(try matchers()[1].pattern, in: line) == [
                "backplane.json", "4", "9", "error", "unknown key `plugns` [manifest.unknown-key]",
            ], "\(line)")
    }
}
