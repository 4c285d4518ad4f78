import Foundation
import Testing

/// `backplane graph`, `explain`, `services` and `names` as processes: what goes where, and how they end.
@Suite(.timeLimit(.minutes(10)))
struct ToolTests {
    private let tool: Tool
    private static let both = Tool.manifests + "/bookshelf-both.json"

    init() throws { tool = try Tool() }

    private func faulty() throws -> String {
        try tool.write(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {
              "Clock": {"className": "ClockManager"},
              "Broken": {"className": "NoSuchClass"}}}
            """#, as: "faulty.json")
    }

    @Test(arguments: [["graph"], ["graph", "--format", "dot"], ["graph", "--format=json"], ["services"], ["services", "--json"], ["names"], ["names", "--json"], ["explain"], ["explain", "--json"]])
    func `of a sound manifest they print a result and nothing else, and leave nothing`(arguments: [String]) async throws {
        let words = [arguments[0], Self.both] + (arguments[0] == "explain" ? ["LibraryManager"] : []) + arguments.dropFirst()
        let outcome = try await tool.start(words + ["--data", tool.data, "--load-folder", tool.loads, "--log-level", "trace"]).end()
        #expect(outcome.status == 0)
        #expect(outcome.errors == "", "nothing is started")
        #expect(outcome.output.contains("LibraryManager") && !outcome.output.contains("\u{1B}"))
        if arguments.contains(where: { $0.contains("json") }) { _ = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) }
        #expect(tool.loadFolders() == [] && !FileManager.default.fileExists(atPath: tool.data))
    }

    @Test(arguments: ["graph", "services", "names"])
    func `of one with faults they print what there is, and say so on standard error`(command: String) async throws {
        let path = try faulty()
        let outcome = try await tool.run(command, path)
        #expect(outcome.status == 0 && outcome.output.contains("Clock"))
        #expect(outcome.errors == "backplane: \(path) has 1 error; 1 manager cannot be created: `backplane check` lists all\n")
    }

    @Test(arguments: ["graph", "services", "names", "explain"])
    func `of one that cannot be read they say why, with its place`(command: String) async throws {
        let path = try tool.write("{\n  \"managers\": {\n", as: "half.json")
        let outcome = try await tool.start([command, path] + (command == "explain" ? ["A"] : []) + ["--load-folder", tool.loads]).end()
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.hasPrefix("\(path):3:1: error: "), "\(outcome.errors)")
    }

    @Test func `the graph has both versions of a class`() async throws {
        let outcome = try await tool.run("graph", Self.both)
        #expect(outcome.output.contains("BooksService 1.0.0") && outcome.output.contains("BooksService 2.0.0"))
    }

    @Test func `an explanation of a fault is one, and an unknown name is an error with names like it`() async throws {
        let path = try faulty()
        let broken = try await tool.run("explain", path, "Broken")
        #expect(broken.status == 0 && broken.output.hasPrefix("Broken: unsatisfied\n"))
        #expect(broken.output.contains("\(path):3:14: no plugin registers a class `NoSuchClass`"), "\(broken.output)")
        let unknown = try await tool.run("explain", path, "Brocken")
        #expect(unknown.status == 1 && unknown.output == "")
        #expect(unknown.errors.contains("did you mean `Broken`?"))
    }

    @Test func `what is sound runs on beside what is not, when it is asked to`() async throws {
        let path = try faulty()
        let refused = try await tool.run("run", path)
        #expect(refused.status == 1 && refused.output == "")
        #expect(refused.errors.contains("\(path):3:14: error: ") && refused.errors.contains("--keep-going"))

        let running = try await tool.startRun(path, "--keep-going")
        running.signal(SIGTERM)
        let outcome = await running.end()
        #expect(outcome.status == 0)
        let table = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(table[0] == ["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE", "WHY"])
        #expect(table[1].prefix(5) == ["Broken", "NoSuchClass", "-", "-", "unsatisfied"] && table[1].contains("component.unknown-class:"))
        #expect(table[2].first == "Clock" && table[2].last == "ready")
        #expect(outcome.output.hasSuffix("1 of 2 managers up; stop with control-C\nSIGTERM: stopping\nstopped\n"))
        #expect(outcome.errors.contains("\(path):3:14: error: ") && outcome.errors.contains("NoSuchClass"), "the reason is told all the same")
    }

    @Test func `a manager that does not start keeps nobody else from it, and is told of`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Challenge"}], "managers": {"A": {"className": "TrialManager", "configuration": {"refusesToStart": true}}, "B": {"className": "TrialManager"}, "C": {"className": "RelayManager", "uses": {"trials": "A"}}}}"#,
            as: "m.json")
        let running = try await tool.startRun(path, "--keep-going")
        running.signal(SIGINT)
        let outcome = await running.end()
        #expect(outcome.status == 0 && outcome.output.contains("1 of 3 managers up;"))
        let rows = outcome.output.split(separator: "\n")
        #expect(rows.contains { $0.hasPrefix("A ") && $0.hasSuffix("failed       /managers/A: component.failed (trial.trouble): not today") }, "\(outcome.output)")
        #expect(rows.contains { $0.hasPrefix("C ") && $0.hasSuffix("unsatisfied  /managers/C/uses/trials: manager.unsatisfied: `A` did not start: not today") })
    }

    @Test func `as JSON the reasons are there too`() async throws {
        struct Row: Decodable { struct Reason: Decodable { var code: String }; var name: String, state: String, reason: Reason? }
        let running = try tool.start(["run", try faulty(), "--keep-going", "--json", "--load-folder", tool.loads])
        #expect(await running.says("\n]"))
        running.signal(SIGTERM)
        let outcome = await running.end(), rows = try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
        #expect(rows.map(\.state) == ["unsatisfied", "ready"])
        #expect(rows.map(\.reason?.code) == ["component.unknown-class", nil])
    }

    @Test func `where nothing is up nothing runs on`() async throws {
        let path = try tool.write(#"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"Broken": {"className": "NoSuchClass"}}}"#, as: "m.json")
        let outcome = try await tool.run("run", path, "--keep-going")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("no manager is up"))
    }
}
