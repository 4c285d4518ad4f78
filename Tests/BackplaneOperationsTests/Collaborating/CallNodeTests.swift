import Backplane
import BackplaneHost
import BackplaneOperations
import BackplaneTestKit
import Testing

/// Nodes that call managers, and graphs inside of one, which call through its wires.
@Suite(.timeLimit(.minutes(2)))
struct CallNodeTests {
    struct Words: Contract {
        static let version: Version = "1.0.0"
        let split = AsyncMethod<String, [String]>()
        let count = SyncMethod<[String], Int>()
    }

    struct Reports: Contract {
        static let version: Version = "1.0.0"
        let report = AsyncMethod<String, Int>()
    }

    private final class WordsManager: Manager {
        typealias Provides = Words
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) {
            table.async(\.split) { _, text, _ in
                if text.isEmpty { throw Unavailable() }
                return text.split(separator: " ").map(String.init)
            }
            table.sync(\.count) { _, words, _ in words.count }
        }
    }

    private final class ReportsManager: Manager {
        typealias Provides = Reports
        struct Wires: Wiring { let words: Wire<Words> }
        private let context: Context
        init(_ context: Context) { self.context = context }
        static func methods(_ table: inout Methods) {
            table.async(\.report) { manager, text, call in
                let words = manager.context.wires.words
                var graph = GraphBuilder("report")
                let split = graph.call("split", words.split, text, call)
                let count = graph.call("count", words.count, with: split, call)
                return try await graph.build(returning: count).start().value
            }
        }
    }

    private struct WordsPlugin: Plugin {
        static let id = "org.backplane.tests.words"
        static let version: Version = "1.0.0"
        static func register(in registrar: inout Registrar) {
            registrar.add(WordsManager.self)
            registrar.add(ReportsManager.self)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a graph calls managers, from a program and through wires`(lanes: LaneRule) async throws {
        let manifest = Manifest(managers: [
            "Words": ManagerDefinition(className: "WordsManager"),
            "Reports": ManagerDefinition(className: "ReportsManager", uses: ["words": "Words"]),
        ])
        try await TestHost.run(manifest, plugins: [WordsPlugin.self], lanes: lanes) { host in
            let words: Remote<Words> = try await host.manager("Words")
            let reports: Remote<Reports> = try await host.manager("Reports")
            let call = Call()
            var graph = GraphBuilder("words")
            let text = graph.add("text") { "call me Ishmael" }
            let split = graph.call("split", words.split, with: text, call)
            let count = graph.call("count", words.count, with: split, call)
            let report = graph.call("report", reports.report, "some years ago", call)
            let broken = graph.call("broken", words.split, "", call)
            let all = graph.add("all", after: count, report, broken.always) { count, report, broken in
                (count, report, broken)
            }
            let (counted, reported, outcome) = try await graph.build(returning: all).start().value
            #expect(counted == 3 && reported == 3)
            guard case .failure(let error) = outcome else { return #expect(Bool(false)) }
            #expect(error.code == .componentFailed && error.message == "the shelf is unavailable")
        }
    }
}
