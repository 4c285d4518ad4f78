import Backplane
import BackplaneControl
import Foundation
import TestGenerators
import Testing

@testable import BackplaneCommand
@testable import BackplaneDev

/// The first line of what an author reads after a mistake: it names the cause, the place and the cure.
///
/// Every run of a case draws other names.
@Suite(.timeLimit(.minutes(10)))
struct FirstLineTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let commands = [
        "new", "dev", "run", "call", "check", "graph", "explain", "services", "names", "convert", "request", "inspect",
        "validate", "bench", "demo", "swap", "rollback", "generations", "stats", "events", "log-level", "apply",
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
        return (try manifest("\"AlmanacManager\": {", becomes: "\"\(name)\": {"), name)
    }

    private func firstLine(_ text: String) -> String { text.split(separator: "\n").first.map(String.init) ?? "" }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a library that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let right = numbers.pick(["Clock", "Almanac"]), wrong = Misspelling(of: right, besides: [], &numbers).text
        let manifest = try manifest(#""library": "\#(right)""#, becomes: #""library": "\#(wrong)""#)
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

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a key of the manifest that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
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

    @Test func `a key of the whole manifest that is misspelt, of which every missing class is a consequence`()
        async throws
    {
        let manifest = try manifest(#""plugins""#, becomes: #""plugns""#)
        let checked = try await tool.run("check", manifest)
        #expect(checked.status == 1)
        let errors = checked.output.split(separator: "\n").filter { $0.contains(" error: ") }
        #expect(errors.count == 1 && errors.first?.contains("did you mean `plugins`?") == true, "\(checked.output)")
        let called = try await tool.run("call", manifest, "AlmanacManager", "on", #""07-20""#)
        #expect(firstLine(called.errors).contains("did you mean `plugins`?"), "\(called.errors)")
    }

    @Test func `a class that is misspelt beside a library that is named twice`() async throws {
        let plugin = #"{"library": "Clock"}"#
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [\#(plugin), \#(plugin)], "managers": {"Z": {"className": "Zebra"}}}"#,
            as: "twice.json")
        let checked = try await tool.run("check", path)
        #expect(checked.output.split(separator: "\n").count { $0.contains("error:") } == 2, "\(checked.output)")
        #expect(checked.output.contains("registered as a manager"), "\(checked.output)")
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `a key that is misspelt in a manifest that runs under dev`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let sound = try String(contentsOfFile: Tool.almanac, encoding: .utf8)
        let right = numbers.pick(["dataAccessController", "communicationController", "services", "className"])
        let wrong = Misspelling(of: right, besides: [], &numbers).text
        let manifest = try tool.write(sound, as: "manifest.json")
        let dev = try DevRun(manifest, with: tool)
        try await dev.next("started")
        try await dev.up()
        try tool.write(sound.replacing("\"\(right)\"", with: "\"\(wrong)\"", maxReplacements: 1), as: "manifest.json")
        let refusal = try await dev.refused(), line = refusal.problems.first ?? refusal.error.description
        #expect(line.hasPrefix("\(manifest):"), "\(line)")
        #expect(line.dropFirst(manifest.count + 1).first?.isNumber == true, "\(line)")
        #expect(line.contains("`\(wrong)`") && line.contains("did you mean `\(right)`?"), "\(line)")
        try await dev.stop()
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a manager that is misspelt, whose neighbours are not listed`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let names = ["ClockManager", "AlmanacManager"]
        let right = numbers.pick(names), wrong = Misspelling(of: right, besides: names, &numbers).text
        let called = try await tool.run("call", Tool.almanac, wrong, "now"), line = firstLine(called.errors)
        #expect(
            called.status == 1 && line.contains("no manager is named `\(wrong)`; did you mean `\(right)`?"), "\(line)")
        #expect(!line.contains(names.first { $0 != right }!), "\(line)")
    }

    @Test(arguments: commands.indices)
    func `a command that is misspelt`(index: Int) async throws {
        var numbers = SeededNumbers(UInt64(index))
        let right = Self.commands[index], wrong = Misspelling(of: right, besides: Self.commands, &numbers).text
        let outcome = try await tool.plain(wrong, "anything", "--more")
        #expect(outcome.status == 64, "\(outcome.errors)")
        let line = firstLine(outcome.errors)
        #expect(line.contains("has no command `\(wrong)`; did you mean") && line.contains("`\(right)`"), "\(line)")
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `an option that is misspelt, before what follows it is read`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let options = ["plugin-path", "environment", "timeout", "load-folder", "running", "traceparent"]
        let right = numbers.pick(options), wrong = Misspelling(of: right, besides: options, &numbers).text
        let outcome = try await tool.plain("call", Tool.almanac, "ClockManager", "now", "--\(wrong)", ".build/debug")
        #expect(outcome.status == 64)
        let line = firstLine(outcome.errors)
        #expect(
            line.contains("`backplane call` has no option `--\(wrong)`; did you mean") && line.contains("`--\(right)`"),
            "\(line)")
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `an option that another command has, or whose first word is right`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let (wrong, right) = numbers.pick([
            ("plugins", "plugin-path"), ("plugin", "plugin-path"), ("load", "load-folder"),
        ])
        let value = word(&numbers), manager = word(&numbers)
        let outcome = try await tool.plain("call", Tool.almanac, manager, "now", "--\(wrong)", value)
        #expect(outcome.status == 64)
        let line = firstLine(outcome.errors)
        #expect(line.contains("`backplane call` has no option `--\(wrong)`; did you mean `--\(right)`?"), "\(line)")
        #expect(outcome.errors.hasSuffix("\n  See 'backplane call --help' for more information.\n"))
    }

    @Test func `the value of an option is not taken for one`() async throws {
        let outcome = try await tool.plain("call", "--traceparent", "--nothing", "--timeout", "none", "A", "b")
        #expect(outcome.status == 64 && !outcome.errors.contains("has no option"), "\(outcome.errors)")
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `an input that is a bare word`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let word = numbers.pick([word(&numbers), "\(word(&numbers)) \(word(&numbers))", "07-20", "nul", "3rd", "é"])
        let (manifest, manager) = try renamed(&numbers)
        let called = try await tool.run("call", manifest, manager, "on", word)
        #expect(called.status == 1)
        let line = firstLine(called.errors)
        #expect(line.contains("the input is not JSON") && line.contains("write '\"\(word)\"'"), "\(line)")
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `no input for a method that takes one`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let (manifest, manager) = try renamed(&numbers)
        let called = try await tool.run("call", manifest, manager, "on"), line = firstLine(called.errors)
        #expect(called.status == 1)
        #expect(
            line.contains("`\(manager).on` takes an input, and none was given")
                && line.contains("expected a string"),
            "\(line)")
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `an input of another shape`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let word = Misspelling(of: "something", besides: [], &numbers).text,
            number = Int.random(in: 2..<1000, using: &numbers)
        let (input, found) = numbers.pick([
            ("{\"\(word)\": \(number)}", "an object"), ("[\(number), \"\(word)\"]", "an array"),
            ("\(number)", "a number"),
            ("true", "a boolean"), ("null", "null"),
        ])
        let (manifest, manager) = try renamed(&numbers)
        let called = try await tool.run("call", manifest, manager, "on", input)
        #expect(called.status == 1)
        let line = firstLine(called.errors)
        #expect(line.contains("the input of `\(manager).on`: expected a string, found \(found)"), "\(line)")
        #expect(line.contains("write a string, for example '\"text\"'"), "\(line)")
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a log level that is misspelt, alone and for a component`(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed)
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        let right = numbers.pick(["debug", "notice", "warning", "critical"]),
            wrong = Misspelling(of: right, besides: levels, &numbers).text
        let value = numbers.pick([wrong, "\(word(&numbers))=\(wrong)"])
        let outcome = try await tool.plain("check", Tool.almanac, "--log-level", value),
            line = firstLine(outcome.errors)
        #expect(outcome.status == 64)
        #expect(line.contains("found `\(wrong)`; did you mean `\(right)`?"), "\(line)")
    }

    @Test func `what a method that takes no input calls invalid is left as it is`() {
        let error = BackplaneError(.callInvalidInput, "expected a string, found null")
        func message(_ input: JSONShape?, _ code: BackplaneError.Code = .callInvalidInput) -> String {
            let row = input.map { MethodRow(method: "now", kind: "async", input: $0, output: .any) }
            return CallInput(text: nil).explaining(BackplaneError(code, error.message), of: row, "Clock.now").message
        }
        #expect(message(.null) == error.message && message(nil) == error.message)
        #expect(message(.string, .componentFailed) == error.message)
        #expect(
            message(.string)
                == "`Clock.now` takes an input, and none was given: expected a string, found null; write it as JSON after the method, for example '\"text\"'"
        )
        #expect(message(.any).hasSuffix("write it as JSON after the method"))
    }
}
