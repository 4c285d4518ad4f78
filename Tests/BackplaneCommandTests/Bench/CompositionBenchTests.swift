import BackplaneHost
import Foundation
import Testing

@testable import BackplaneBench
@testable import BackplaneCommand

/// `backplane bench composition`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct CompositionBenchTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// What composing an application must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "resolving 1,000 managers with 4,000 components": 50, "backplane check on 1,000 managers, whole process": 150,
        "one of 500 plugins in C: loaded, checked, wired and started": 0.5,
        "backplane call on one plugin, whole process": 60,
        "idle host with Bookshelf, memory: resident": 60,
    ]

    @Test func `every bound of composition is a row, and so are the shares of loading`() async throws {
        let outcome = try await tool.plain("bench", "composition", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            #expect(
                row["target"] as? Double == Self.bounds[name] && row["suite"] as? String == "composition", "\(name)")
            #expect(try #require(row["median"] as? Double) > 0, "\(name)")
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
        for step in ["copying", "hashing", "checking", "dlopen", "entry and answer", "wiring and starting"] {
            #expect(names.count { $0.hasSuffix(": \(step)") } == 2, "\(step), in C and in Swift")
        }
    }

    @Test func `the crowd is a sound manifest of 1,000 managers with 4,000 components behind them`() {
        let document = ManifestDocument(Crowd().manifest), managers = document.manifest.managers
        #expect(document.problems == [])
        #expect(managers.count == 1_000)
        let behind = managers.values.map {
            ($0.dataAccessController == nil ? 0 : 1) + ($0.communicationController.map { 1 + $0.services.count } ?? 0)
        }
        #expect(behind.reduce(0, +) == 4_000)
        #expect(managers.values.count { !$0.uses.isEmpty } == 900)
    }

    @Test func `a program that runs for a row does not outlive the run, nor does what it made`() async throws {
        let folder = tool.folder + "/temporary"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }

        let bench = try RunningTool(
            ["bench", "composition", "--only", "idle host"], input: nil, environment: ["TMPDIR": folder])
        while try !left().contains(where: {
            FileManager.default.fileExists(atPath: "\(folder)/\($0)/composition/idle/load")
        }) { await Task.yield() }
        bench.signal(SIGINT)
        let outcome = await bench.end()
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(try left() == [])
    }

    @Test(arguments: [["bench-child", "nothing", "here"], ["bench-child"]])
    func `the child does what is asked of it, or says that it cannot`(arguments: [String]) async throws {
        let outcome = try await tool.start(arguments).end()
        #expect(outcome.status == 64)
        #expect(outcome.output == "")
    }
}
