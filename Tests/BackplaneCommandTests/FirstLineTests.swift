import Backplane
import BackplaneControl
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

/// The first line of what an author reads after a mistake: it names the cause, the place and the cure.
///
/// Names are drawn with a seed, which is another one each night (``RunSeed``).
@Suite(.timeLimit(.minutes(10)))
struct FirstLineTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let commands = [
        "new", "dev", "run", "call", "check", "graph", "explain", "services", "names", "convert", "request", "inspect",
        "validate", "demo", "swap", "rollback", "generations", "stats", "events", "log-level", "apply",
        "reset",
        "store",
    ]

    /// Writes the example's manifest with one text replaced by another, and returns its path.
    private func manifest(_ text: String, becomes other: String) throws -> String {
        let original = try String(contentsOfFile: Tool.almanac, encoding: .utf8)
        try #require(original.contains(text))
        return try tool.write(original.replacing(text, with: other), as: "manifest.json")
    }

    /// A word of letters that no name here resembles.
    private func word(_ numbers: inout SeededNumbers) -> String {
        "Q" + String((0..<7).map { _ in numbers.pick(Array("bcdfghjkmpvwxz")) })
    }

    /// Writes the example's manifest with another name for its manager, and returns its path and that name.
    private func renamed(_ numbers: inout SeededNumbers) throws -> (manifest: String, manager: String) {
        let name = word(&numbers)
        return (
            try manifest("\"AlmanacManager\": {", becomes: "\"\(name)\": {\"className\": \"AlmanacManager\","), name
        )
    }

    /// A method, and the words of `call` for its input.
    private struct MethodInput {
        var library, className, method, expected, example: String

        static let all = [
            MethodInput("Almanac", "AlmanacManager", "on", "a string", #"'"text"'"#),
            MethodInput("_Challenge", "TrialManager", "fail", "a string", #"'"text"'"#),
            MethodInput("_Challenge", "TrialManager", "wait", "a number", "1.5"),
            MethodInput("_Challenge", "TrialManager", "item", "an integer", "1"),
            MethodInput("_Challenge", "PeerManager", "resolve", "a string", #"'"text"'"#),
        ]

        init(_ library: String, _ className: String, _ method: String, _ expected: String, _ example: String) {
            (self.library, self.className, self.method) = (library, className, method)
            (self.expected, self.example) = (expected, example)
        }
    }

    /// Writes a manifest with a manager that has the method, and returns its path and the drawn name of the manager.
    private func manifest(with sample: MethodInput, _ numbers: inout SeededNumbers) throws -> (
        path: String, manager: String
    ) {
        guard sample.library != "Almanac" else {
            let (path, manager) = try renamed(&numbers)
            return (path, manager)
        }
        return try manifest(of: sample.library, sample.className, &numbers)
    }

    /// Writes a manifest with one manager, which has no collaborators, and returns its path and the manager's drawn
    /// name.
    private func manifest(
        of library: String, _ className: String, _ numbers: inout SeededNumbers
    ) throws -> (path: String, manager: String) {
        let name = word(&numbers)
        let text =
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(library)"}], "managers": {"\#(name)": {"className": "\#(className)"}}}"#
        return (try tool.write(text, as: "manifest.json"), name)
    }

    private func firstLine(_ text: String) -> String { text.split(separator: "\n").first.map(String.init) ?? "" }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `a library that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let right = numbers.pick(["Clock", "Almanac"]), wrong = Misspelling(of: right, besides: [], &numbers).text
        let manifest = try manifest(#""\#(right)""#, becomes: #""\#(wrong)""#)
        let checked = try await tool.run("check", manifest)
        #expect(checked.status == 1)
        let lines = checked.output.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("error:") })
        #expect(line.hasPrefix("\(manifest):"), "\(line)")
        #expect(
            line.contains("the library `\(wrong)` was not found") && line.contains("did you mean `\(right)`?"),
            "\(line)")
        #expect(lines.count { $0.contains("error:") } == 1, "what follows from it is counted\n\(checked.output)")
        #expect(lines.contains { $0.contains("follow") && $0.contains("--all") }, "\(checked.output)")
        let all = try await tool.run("check", manifest, "--all").output
        #expect(all.contains("component.unknown-class"), "\(all)")

        let manager = right == "Clock" ? "ClockManager" : "AlmanacManager"
        let called = try await tool.run("call", manifest, manager, "now")
        #expect(called.status == 1 && firstLine(called.errors).contains("did you mean `\(right)`?"), "\(called.errors)")
        let ran = try await tool.run("run", manifest)
        #expect(ran.status == 1 && firstLine(ran.errors).contains("did you mean `\(right)`?"), "\(ran.errors)")
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `a class that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let right = numbers.pick(["AlmanacManager", "ClockManager", "AlmanacStore", "EventFeedService"])
        let wrong = Misspelling(of: right, besides: [], &numbers).text
        // A manager's class is its name.
        let manifest = try manifest(#""\#(right)""#, becomes: #""\#(wrong)""#)
        let line = try await onlyError(of: manifest)
        #expect(
            line.contains("no plugin registers a class `\(wrong)`") && line.contains("did you mean `\(right)`?"),
            "\(line)")
    }

    /// Checks a manifest with one error, and returns the line of it, which begins with its place.
    private func onlyError(of manifest: String, _ location: SourceLocation = #_sourceLocation) async throws -> Substring
    {
        let checked = try await tool.run("check", manifest)
        #expect(checked.status == 1, sourceLocation: location)
        let errors = checked.output.split(separator: "\n").filter { $0.contains(" error: ") }
        #expect(errors.count == 1, "\(checked.output)", sourceLocation: location)
        let line = try #require(errors.first, "\(checked.output)", sourceLocation: location)
        let place = line.dropFirst(manifest.count + 1).prefix { $0 != " " }.split(separator: ":")
        #expect(
            line.hasPrefix("\(manifest):") && place.count == 2 && place.allSatisfy { Int($0) != nil }, "\(line)",
            sourceLocation: location)
        return line
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `a key of the manifest that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let right = numbers.pick(["dataAccessController", "communicationController"])
        let wrong = Misspelling(of: right, besides: [], &numbers).text
        let manifest = try manifest("\"\(right)\"", becomes: "\"\(wrong)\"")
        let checked = try await tool.run("check", manifest)
        #expect(checked.status == 1)
        let errors = checked.output.split(separator: "\n").filter { $0.contains(" error: ") }
        #expect(errors.count == 1, "\(checked.output)")
        let line = try #require(errors.first)
        #expect(line.hasPrefix("\(manifest):"), "\(line)")
        #expect(line.contains("`\(wrong)`") && line.contains("did you mean `\(right)`?"), "\(line)")
        let called = try await tool.run("call", manifest, "AlmanacManager", "on", #""07-20""#)
        #expect(firstLine(called.errors).contains("did you mean `\(right)`?"), "\(called.errors)")
    }

    @Test(arguments: [0, 4, 12])
    func `a command that is misspelt`(index: Int) async throws {
        var numbers = SeededNumbers(ofCase: index)
        let right = Self.commands[index], wrong = Misspelling(of: right, besides: Self.commands, &numbers).text
        let outcome = try await tool.plain(wrong, "anything", "--more")
        #expect(outcome.status == 64, "\(outcome.errors)")
        let line = firstLine(outcome.errors)
        #expect(line.contains("has no command `\(wrong)`; did you mean") && line.contains("`\(right)`"), "\(line)")
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `an option that is misspelt, before what follows it is read`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let options = ["plugin-path", "environment", "timeout", "load-folder", "running", "traceparent"]
        let right = numbers.pick(options), wrong = Misspelling(of: right, besides: options, &numbers).text
        let outcome = try await tool.plain("call", Tool.almanac, "ClockManager", "now", "--\(wrong)", ".build/debug")
        #expect(outcome.status == 64)
        let line = firstLine(outcome.errors)
        #expect(
            line.contains("`backplane call` has no option `--\(wrong)`; did you mean") && line.contains("`--\(right)`"),
            "\(line)")
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `an index out of range in a plugin`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let (manifest, manager) = try manifest(of: "_Challenge", "TrialManager", &numbers)
        // With the space a negative input is no option.
        let index = numbers.pick([-1, 1]) * Int.random(in: 3..<1_000_000, using: &numbers)
        let called = try await RunningTool(
            ["call", manifest, manager, "item", " \(index)", "--data", tool.data, "--load-folder", tool.loads],
            input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"]
        ).end()
        #expect(called.status == -SIGILL, "\(called.errors)")
        let lines = called.errors.split(separator: "\n")
        #if DEBUG
        #expect(lines.first?.contains("Fatal error: Index out of range") == true, "\(called.errors)")
        #endif
        let line = try #require(lines.first { $0.hasPrefix("backplane: signal ") }, "\(called.errors)")
        #expect(line.contains("in code of org.backplane.tests.challenge, generation 1"), "\(line)")
    }
}
