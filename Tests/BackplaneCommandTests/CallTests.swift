import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// `backplane call`: the result alone on standard output, errors alone on standard error.
@Suite(.timeLimit(.minutes(10)))
struct CallTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Writes a manifest with the manager of trials.
    private func trials() throws -> String {
        try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"Trial": {"className": "TrialManager"}}}"#,
            as: "m.json")
    }

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
        let dashes = try await tool.start([
            "call", "--data", tool.data, "--load-folder", tool.loads, Tool.almanac, "ClockManager", "echo", "--", "-5",
        ]).end()
        #expect(dashes.status == 0 && dashes.output == "-5\n", "\(dashes.errors)")
    }

    @Test(arguments: [
        (["ClockManger", "now"], ["manager.unknown", "did you mean `ClockManager`?"]),
        (["ClockManager", "tomorrow"], ["call.unimplemented", "`tomorrow`", "`now`, `echo`"]),
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

    @Test func `a call that fails, takes too long or returns what JSON cannot represent is an error`() async throws {
        let manifest = try trials()
        let late = try await tool.run("call", manifest, "Trial", "wait", "3600", "--timeout", "1.5")
        #expect(late.status == 1 && late.output == "" && late.errors.contains("call.deadline"), "\(late.errors)")
        let refused = try await tool.run("call", manifest, "Trial", "wait", "0", "--timeout=nan")
        #expect(refused.status == 64 && refused.errors.contains("--timeout"), "\(refused.errors)")
        let infinity = try await tool.run("call", manifest, "Trial", "infinity")
        #expect(infinity.status == 1 && infinity.output == "" && infinity.errors.contains("call.invalid-output"))
        let failed = try await tool.run("call", manifest, "Trial", "fail", "\"four\"")
        let call = "Trial.fail (org.backplane.tests.challenge)"
        #expect(failed.errors == "backplane: \(call): component.failed (trial.trouble): four\n  length: 4\n")
    }

    // MARK: Interruptions

    @Test func `control-C ends a call, and its host stops in order`() async throws {
        let running = try tool.start([
            "call", try trials(), "Trial", "wait", "3600", "--timeout", "3600", "--data", tool.data, "--load-folder",
            tool.loads, "--log-level", "debug",
        ])
        #expect(await running.logs("component=Trial"), "\(running.errors)")
        running.signal(SIGINT)
        let outcome = await running.end()
        #expect(outcome.status == 130 && outcome.output == "", "\(outcome)")
        #expect(tool.loadFolders() == [], "its host has stopped")
    }

    private func sequences() throws -> String {
        try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Parity"}], "managers": {"Sequences": {"className": "SequencesManager"}}}"#,
            as: "sequences.json")
    }

    @Test func `control-C ends the reading of a stream, of an own host and of one that runs`() async throws {
        let manifest = try sequences()
        let own = try tool.start([
            "call", manifest, "Sequences", "endless", "--data", tool.data, "--load-folder", tool.loads,
        ])
        #expect(await own.line(0) == "0", "\(own.errors)")
        own.signal(SIGINT)
        #expect(await own.end().status == 130)
        #expect(tool.loadFolders() == [], "its host has stopped")
        let host = try await tool.startRun(manifest)
        let reader = try tool.start(["call", "Sequences", "endless", "--running"])
        #expect(await reader.line(0) == "0", "\(reader.errors)")
        reader.signal(SIGINT)
        #expect(await reader.end().status == 130)
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `a stream ends quietly when nobody reads it any more`() async throws {
        let manifest = try sequences(), host = try await tool.startRun(manifest)
        for options in [[manifest, "--data", tool.data, "--load-folder", tool.loads], ["--running"]] {
            let words =
                ["call"] + options.prefix(options[0] == manifest ? 1 : 0) + ["Sequences", "endless"]
                + options.dropFirst(options[0] == manifest ? 1 : 0)
            let piped = try RunningTool(
                ["-c", #"{ "$@"; echo "over, $?" >&2; } | head -1"#, "sh", BuiltProducts.folder + "/backplane"] + words,
                of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder])
            let outcome = await piped.end()
            #expect(outcome.output == "0\n" && outcome.errors.hasSuffix("over, 0\n"), "\(outcome)")
        }
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    // MARK: The list of methods

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
