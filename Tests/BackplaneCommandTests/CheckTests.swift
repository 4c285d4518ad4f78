import Foundation
import TestFixtures
import Testing

/// `backplane check`: every problem with its place, and nothing started.
@Suite(.timeLimit(.minutes(10)))
struct CheckTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func faulty() throws -> String {
        try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "_Challenge" }, { "library": "Missing" }],
              "managers": {
                "Nobody": { "className": "NoSuchClass" },
                "Empty": { "className": "ChallengeManager", "dataAccessController": {} },
                "Typo": { "className": "TrialManager", "clasName": "x" },
                "Alone": { "className": "RelayManager" }
              }
            }
            """, as: "faulty.json")
    }

    @Test(arguments: [Tool.almanac, Tool.almanacList])
    func `a sound manifest has no problems`(manifest: String) async throws {
        // The list takes all libraries of a folder.
        let plugins = tool.folder + "/plugins"
        try FileManager.default.createDirectory(atPath: plugins, withIntermediateDirectories: false)
        for name in ["libAlmanac.so", "libClock.so"] {
            try FileManager.default.copyItem(atPath: "\(BuiltProducts.folder)/\(name)", toPath: "\(plugins)/\(name)")
        }
        let folders = ["--plugin-path", plugins, "--data", tool.data, "--load-folder", tool.loads]
        let outcome = try await tool.start(["check", "--strict", manifest] + folders).end()
        #expect(outcome.status == 0)
        #expect(outcome.output == manifest + ": no problems\n")
        #expect(outcome.errors == "")
    }

    @Test func `all problems are listed, each with its file, line and column`() async throws {
        let path = try faulty()
        let outcome = try await tool.run("check", path, "--all")
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix(path) }.map {
            String($0.dropFirst(path.count))
        }
        let expected = [
            (":3:46: error: /plugins/1/library:", "[plugin.not-found]"),
            (":8:5: error: /managers/Alone/uses/trials:", "[wire.unsatisfied]"),
            (":6:49: error: /managers/Empty/dataAccessController:", "[manifest.missing-key]"),
            (":5:17: error: /managers/Nobody/className:", "[component.unknown-class]"),
            (":7:44: warning: /managers/Typo/clasName:", "[manifest.unknown-key]"),
            (": 4 errors, 1 warning", ""),
        ]
        #expect(lines.count == expected.count, "\(outcome.output)")
        for (line, (start, end)) in zip(lines, expected) {
            #expect(line.hasPrefix(start) && line.hasSuffix(end), "\(line)")
        }
    }

    @Test func `as JSON they are all there too`() async throws {
        struct Row: Decodable {
            var severity: String, manager: String?, location: String?, line: Int?, column: Int?, code: String,
                message: String
        }
        let outcome = try await tool.run("check", try faulty(), "--json")
        #expect(outcome.status == 1 && outcome.errors == "")
        let rows = try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
        #expect(rows.map(\.manager) == [nil, "Alone", "Empty", "Nobody", "Typo"])
        #expect(rows.map(\.line) == [3, 8, 6, 5, 7])
        #expect(rows.allSatisfy { !$0.message.isEmpty && $0.location != nil && $0.column != nil })
        #expect(rows.map(\.severity) == ["error", "error", "error", "error", "warning"])

        let sound = try await tool.run("check", Tool.almanac, "--json")
        #expect(try sound.status == 0 && JSONDecoder().decode([Row].self, from: Data(sound.output.utf8)).isEmpty)
    }

    @Test func `warnings fail when they are asked to`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"Clock": {"className": "ClockManager", "clasName": "x"}}}"#,
            as: "m.json")
        #expect(try await tool.run("check", path).status == 0)
        let strict = try await tool.run("check", path, "--strict")
        #expect(strict.status == 1)
        #expect(strict.output.contains("warning: /managers/Clock/clasName"))
    }

    @Test func `state that can only cross as JSON is a warning where warnings are asked for`() async throws {
        let path = try tool.write(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Parity"}],
             "managers": {"FullState": {"className": "FullStateManager"},
                          "Bound": {"className": "BoundManager"}}}
            """#,
            as: "m.json")
        let plain = try await tool.run("check", path)
        #expect(plain.status == 0 && !plain.output.contains("JSON"))
        let strict = try await tool.run("check", path, "--strict")
        #expect(strict.status == 1 && strict.output.contains("1 warning"))
        #expect(
            strict.output.contains(
                "m.json:3:15: warning: /managers/Bound: the state of Bound can only be carried over as JSON, for which calls wait: the state is `State`, where `State.cover` is `Cover`, a class"
            ), "\(strict.output)")
    }
}
