import Backplane
import BackplaneOperations
import BackplaneTestKit
import Foundation
import Synchronization

@testable import BackplaneHost

/// The behaviour of a runner in one edition of its plugin.
struct GraphRunnerScript: Sendable {
    var edition = 1
    /// A function that is called by the only node of a graph.
    var visit: @Sendable () async throws -> Void = {}
    var activated: @Sendable () throws -> Void = {}
}

/// A host with one runner that is swapped for other editions of its plugin.
struct GraphRunnerHost {
    let host: PluginHost
    let journal: GraphRunnerJournal
    let runner: Remote<GraphRunning>
    private let files: TestFolder

    init(_ script: GraphRunnerScript = GraphRunnerScript()) async throws {
        journal = GraphRunnerJournal(script)
        files = try TestFolder()
        var options = HostOptions()
        (options.dataFolder, options.loadFolder) = (files.path + "/data", files.path + "/loads")
        (options.log, options.occupationLimit) = (journal.log, nil)
        let manifest = """
            {"manifestVersion": 1, "managers": {"GraphRunner": {"className": "GraphRunner", \
            "configuration": {"key": "\(journal.key)"}}}}
            """
        host = PluginHost(
            manifest: ManifestDocument(parsing: Data(manifest.utf8)), linked: [Self.edition(1)], options: options)
        try await host.start()
        runner = try await host.manager("GraphRunner")
    }

    func stop() async { await host.stop() }

    private static func edition(_ number: Int) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.graph-runners", version: Version("\(number).0.0")!) {
            $0.add(GraphRunner.self)
        }
    }

    /// Activates another edition of the plugin, whose runner follows a script.
    @discardableResult
    func swap(
        _ script: GraphRunnerScript, drain: DrainPolicy = .upTo(.seconds(60), then: .fail),
        abandonsGraphs: Bool = false
    ) async throws(BackplaneError) -> SwapReport {
        journal.next(script)
        let options = SwapOptions(drain: drain, stepLimit: .seconds(60), abandonsGraphs: abandonsGraphs)
        let coordinator = host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [Self.edition(script.edition)], options)
        }
    }

    /// Starts a graph with one node, which visits as the script says.
    func start() async throws { _ = try await runner.start("single", host.begin()) }
}

/// What runners of all editions have done, and the script of those that are created next.
final class GraphRunnerJournal: Sendable {
    private static let all = Mutex<[String: GraphRunnerJournal]>([:])
    let key = UUID().uuidString
    let visits = Recording<String>()
    let log = TestLog()
    private let current: Mutex<GraphRunnerScript>

    init(_ script: GraphRunnerScript) {
        current = Mutex(script)
        let own = self
        Self.all.withLock { $0[key] = own }
    }

    static func of(_ key: String) -> GraphRunnerJournal? { all.withLock { $0[key] } }

    var script: GraphRunnerScript { current.withLock(\.self) }

    func next(_ script: GraphRunnerScript) { current.withLock { $0 = script } }
}

struct GraphRunning: Contract {
    static let version: Version = "1.0.0"
    /// Starts a graph of that name.
    let start = AsyncMethod<String, Nothing>()
    let edition = AsyncMethod<Nothing, Int>()
}

struct GraphRunnerMistake: Error, CustomStringConvertible { var description: String }

final class GraphRunner: Manager {
    typealias Provides = GraphRunning
    struct Configuration: Decodable, Sendable { var key: String }
    private let script: GraphRunnerScript
    private let journal: GraphRunnerJournal
    private let queue: GraphQueue

    init(_ context: Context) throws {
        guard let journal = GraphRunnerJournal.of(context.configuration.key) else {
            throw GraphRunnerMistake(description: "no journal")
        }
        (self.journal, script, queue) = (journal, journal.script, context.operations)
    }

    func activate() async throws { try script.activated() }

    private func start(_ name: String) throws {
        var graph = GraphBuilder(name)
        let script = script, journal = journal
        let node = graph.add("single") {
            try await script.visit()
            journal.visits.add("single \(script.edition)")
        }
        _ = queue.start(try graph.build(returning: node))
    }

    static func methods(_ table: inout Methods) {
        table.async(\.start) { runner, name, _ in
            try runner.start(name)
            return Nothing()
        }
        table.async(\.edition) { runner, _, _ in runner.script.edition }
    }
}
