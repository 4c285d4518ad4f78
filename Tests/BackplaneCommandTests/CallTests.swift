import Foundation
import TestFixtures
import Testing

/// `backplane call`: the result alone on standard output, errors alone on standard error.
@Suite(.timeLimit(.minutes(10)))
struct CallTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: [[Tool.almanac], [Tool.almanacList, "--plugin-path", BuiltProducts.folder]])
    func `the almanac answers, from its own manifest and from a plain property list`(manifest: [String]) async throws {
        let outcome = try await tool.start(
            ["call"] + manifest + [
                "AlmanacManager", "on", "\"07-20\"", "--data", tool.data, "--load-folder", tool.loads,
            ]
        ).end()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        struct Answer: Decodable, Equatable {
            struct Event: Decodable, Equatable { var day: String, year: Int, text: String }
            var source: String
            var value: [Event]
        }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        #expect(answer.source == "network")
        #expect(answer.value.map(\.year) == [1969, 1976])
        #expect(outcome.output.hasSuffix("\n") && outcome.output.split(separator: "\n").count == 1, "one line")
        #expect(tool.loadFolders() == [], "nothing is left of the host")
        #expect(FileManager.default.fileExists(atPath: tool.data), "but its data")
    }

    @Test func `it says why a wire is not native`() async throws {
        let outcome = try await tool.run(
            "call", Tool.manifests + "/bookshelf.json", "LibraryManager", "count", "--explain")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let line = outcome.errors.split(separator: "\n").first { $0.contains(" clock ") }
        #expect(
            line?.hasSuffix(" encoded  plugin `org.backplane.clock` does not use the Swift SDK") == true,
            "\(outcome.errors)")
    }

    @Test func `the elements of a stream are a line each, up to a limit`() async throws {
        struct Event: Decodable { var day: String, year: Int }
        let all = try await tool.run("call", Tool.almanac, "AlmanacManager", "events")
        #expect(all.status == 0 && all.errors == "", "\(all.errors)")
        let lines = all.output.split(separator: "\n")
        let events = try lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        let places = events.map { "\($0.day) \($0.year)" }
        #expect(places.count > 10 && places == places.sorted())
        let some = try await tool.run("call", Tool.almanac, "AlmanacManager", "events", "--limit", "3", "--explain")
        // The keys of an element come in any order.
        let first = try some.output.split(separator: "\n").map {
            try JSONDecoder().decode(Event.self, from: Data($0.utf8))
        }
        #expect(some.status == 0 && first.map { "\($0.day) \($0.year)" } == Array(places.prefix(3)))
        #expect(some.errors.contains("EventFeedService"))
        let refused = try await tool.run("call", Tool.almanac, "AlmanacManager", "events", "--limit", "0")
        #expect(refused.status == 64 && refused.output == "")
        let noStream = try await tool.run("call", Tool.almanac, "ClockManager", "now", "--limit", "3")
        #expect(noStream.status == 1 && noStream.output == "")
        #expect(
            noStream.errors.contains("call.wrong-kind: `now` of ClockManager is not a stream"), "\(noStream.errors)")
    }

    @Test func `the id of the trace is printed, and another program's is continued`() async throws {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736", parent = "00-\(id)-00f067aa0ba902b7-01"
        let own = try await tool.run("call", Tool.almanac, "ClockManager", "now", "--trace")
        #expect(own.status == 0 && own.errors.wholeMatch(of: /trace [0-9a-f]{32}\n/) != nil, "\(own.errors)")
        let continued = try await tool.run(
            "call", Tool.almanac, "ClockManager", "now", "--trace", "--traceparent", parent)
        #expect(continued.status == 0 && continued.errors == "trace \(id)\n")
        let malformed = try await tool.run("call", Tool.almanac, "ClockManager", "now", "--traceparent", id)
        #expect(malformed.status == 64 && malformed.errors.contains("expected 00-TRACE-SPAN-FLAGS"))
    }

    @Test func `input may come from standard input`() async throws {
        let text = #"{"é": [1, null, "\n"]}"#
        let outcome = try await tool.run("call", Tool.almanac, "ClockManager", "echo", "-", input: text)
        #expect(outcome.status == 0 && outcome.output == text.replacing(" ", with: "") + "\n")
        let nothing = try await tool.run("call", Tool.almanac, "ClockManager", "echo", "-")
        #expect(nothing.status == 1 && nothing.output == "" && nothing.errors.contains("call.invalid-input"))
    }

    @Test func `what stands after two dashes is an input, not an option`() async throws {
        let outcome = try await tool.start([
            "call", "--data", tool.data, "--load-folder", tool.loads, Tool.almanac, "ClockManager", "echo", "--", "-5",
        ]).end()
        #expect(outcome.status == 0 && outcome.output == "-5\n", "\(outcome.errors)")
    }

    @Test(arguments: [
        (["Unknown", "now"], ["manager.unknown", "`Unknown`", "`ClockManager`"]),
        (["ClockManger", "now"], ["manager.unknown", "did you mean `ClockManager`?"]),
        (["ClockManager", "tomorrow"], ["call.unimplemented", "`tomorrow`", "`now`, `echo`"]),
        (["ClockManager", "now", "7"], ["call.invalid-input"]),
        (["ClockManager", "echo", "{"], ["call.invalid-input"]),
        (["AlmanacManager", "on", "7"], ["call.invalid-input", "expected a string, found a number"]),
        (["AlmanacManager", "on", "\"some day\""], ["component.failed", "almanac.not-a-day", "`some day`"]),
    ])
    func `what cannot be done is one clear message on standard error, and exit code 1`(words: [String], says: [String])
        async throws
    {
        let outcome = try await tool.start(
            ["call", Tool.almanac] + words + ["--data", tool.data, "--load-folder", tool.loads]
        ).end()
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("backplane: "))
        for text in says { #expect(outcome.errors.contains(text), "\(outcome.errors)") }
        #expect(tool.loadFolders() == [])
    }

    @Test func `a call fails after its time limit`() async throws {
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"Trial": {"className": "TrialManager"}}}"#,
            as: "m.json")
        let outcome = try await tool.run("call", manifest, "Trial", "wait", "3600", "--timeout", "1.5")
        #expect(
            outcome.status == 1 && outcome.output == "" && outcome.errors.contains("call.deadline"), "\(outcome.errors)"
        )
        for limit in ["0", "-1", "nan", "inf"] {
            let refused = try await tool.run("call", manifest, "Trial", "wait", "0", "--timeout=\(limit)")
            #expect(refused.status == 64 && refused.errors.contains("--timeout"), "\(limit): \(refused.errors)")
        }
    }

    @Test func `a result that JSON cannot represent is an error, which is reported in full`() async throws {
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"Trial": {"className": "TrialManager"}}}"#,
            as: "m.json")
        let infinity = try await tool.run("call", manifest, "Trial", "infinity")
        #expect(infinity.status == 1 && infinity.output == "" && infinity.errors.contains("call.invalid-output"))
        let failed = try await tool.run("call", manifest, "Trial", "fail", "\"four\"")
        let call = "Trial.fail (org.backplane.tests.challenge)"
        #expect(failed.errors == "backplane: \(call): component.failed (trial.trouble): four\n  length: 4\n")
    }
}
