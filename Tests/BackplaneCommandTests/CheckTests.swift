import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

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

    // MARK: The text

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

    // MARK: Environments

    private func problems(_ options: String..., variables: [String: String] = [:]) async throws -> [Substring] {
        let path = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {},
             "environments": {"test": {"managers": {"Test": {"className": "${CLASS}"}}}, "production": {"managers": {"Production": {"className": "Printer"}}}}}
            """, as: "m.json")
        let tool = try RunningTool(
            ["check", path] + options + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: variables)
        return await tool.end().output.split(separator: "\n").map { $0.dropFirst(path.count) }
    }

    @Test func `the option chooses one, before the variable, and none when it is empty`() async throws {
        let test =
            ":2:50: error: /environments/test/managers/Test/className: the variable `CLASS` is not set; set it, or write `${CLASS:-default}` [manifest.unset-variable]"
        #expect(try await problems().first == ": no problems")
        #expect(try await problems("--environment", "test").first == test[...])
        #expect(try await problems(variables: ["BACKPLANE_ENVIRONMENT": "test"]).first == test[...])
        #expect(try await problems(variables: ["BACKPLANE_ENVIRONMENT": ""]).first == ": no problems")
        #expect(
            try await problems("--environment=production", variables: ["BACKPLANE_ENVIRONMENT": "test"]).first?
                .contains(
                    "no plugin registers a class `Printer`") == true)
        #expect(
            try await problems("--environment", "", variables: ["BACKPLANE_ENVIRONMENT": "test"]).first
                == ": no problems")
    }

    // MARK: The lock

    private func manifest(_ lock: String = "") throws -> String {
        try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "Clock" }],
              "managers": { "Clock": { "className": "ClockManager" } }\(lock)
            }

            """, as: "m.json")
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `it is written once, and says what changed`() async throws {
        let path = try manifest()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let first = try await tool.run("check", path, "--lock")
        #expect(first.status == 0 && first.errors == "")
        let lines = first.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["\(path): no problems", "\(path): locked"] && lines.count == 3)
        #expect(lines.last?.wholeMatch(of: /\ \ Clock: \d+\.\d+\.\d+ of plugin `[a-z.]+`/) != nil, "\(first.output)")
        let locked = try text(path)
        #expect(locked.hasPrefix(try text(manifestBefore()).dropLast(3)))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)

        let second = try await tool.run("check", path, "--lock")
        #expect(second.status == 0 && second.output == "\(path): no problems\n\(path): the lock is up to date\n")
        #expect(try text(path) == locked)
        let check = try await tool.run("check", path, "--strict")
        #expect(check.status == 0 && check.output == "\(path): no problems\n")
    }

    private func manifestBefore() throws -> String {
        try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "Clock" }],
              "managers": { "Clock": { "className": "ClockManager" } }
            }

            """, as: "before.json")
    }

    // MARK: Definitions

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

    @Test func `a mistake in the definition of a service is found with the manifest, at its line`() async throws {
        let (manifest, definition) = try tool.copyDefinedBookshelf()
        #expect(try await tool.run("check", manifest).status == 0)
        try tool.write(
            """
            {
              "search": {
                "request": { "path": "search?q=%1", "methd": "GET" }
              },
              "find": { "request": 7 }
            }
            """, as: "app/definitions/Books.json")
        let outcome = try await tool.run("check", manifest)
        #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.contains("\(definition):5:13: error: /find/request: "), "\(outcome.output)")
        #expect(!outcome.output.contains("app.json:1:1"))
    }
}
