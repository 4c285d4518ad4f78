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

    /// - Parameter isExclusive: Whether calls of the runner wait in a swap.
    init(_ script: GraphRunnerScript = GraphRunnerScript(), isExclusive: Bool = true) async throws {
        journal = GraphRunnerJournal(script)
        files = try TestFolder()
        var options = HostOptions()
        (options.dataFolder, options.loadFolder) = (files.path + "/data", files.path + "/loads")
        (options.log, options.occupationLimit) = (journal.log, nil)
        let runner = ManagerDefinition(
            className: isExclusive ? "ExclusiveGraphRunner" : "GraphRunner",
            configuration: ["key": .string(journal.key)],
            communicationController: ComponentDefinition(
                className: "GraphClerk", configuration: ["key": .string(journal.key)]))
        host = PluginHost(
            manifest: ManifestDocument(Manifest(managers: ["GraphRunner": runner])), linked: [Self.edition(1)],
            options: options)
        try await host.start()
        self.runner = try await host.manager("GraphRunner")
    }

    func stop() async { await host.stop() }

    private static func edition(_ number: Int) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.graph-runners", version: Version("\(number).0.0")!) {
            $0.add(GraphRunner<Ungated>.self)
            $0.add(GraphRunner<Gated>.self)
            $0.add(GraphClerk.self)
        }
    }

    /// Activates another edition of the plugin, whose runner follows a script.
    @discardableResult
    func swap(
        _ script: GraphRunnerScript, drain: DrainPolicy = .upTo(.seconds(60), then: .fail)
    ) async throws(BackplaneError) -> ChangeReport {
        journal.next(script)
        let options = ChangeOptions(drain: drain, stepLimit: .seconds(60))
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

    static func of(_ key: String) throws -> GraphRunnerJournal {
        guard let journal = all.withLock({ $0[key] }) else { throw GraphRunnerMistake(description: "no journal") }
        return journal
    }

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

struct GraphClerking: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

/// The collaborator that nodes of graphs call.
final class GraphClerk: CommunicationController {
    typealias Provides = GraphClerking
    typealias Configuration = GraphRunnerConfiguration
    static let className = "GraphClerk"
    private let edition: Int

    init(_ context: Context) throws {
        edition = try GraphRunnerJournal.of(context.configuration.key).script.edition
    }

    static func methods(_ table: inout Methods) { table.async(\.edition) { clerk, _, _ in clerk.edition } }
}

protocol GraphRunnerKind: Sendable {
    static var isGated: Bool { get }
}
enum Gated: GraphRunnerKind { static let isGated = true }
enum Ungated: GraphRunnerKind { static let isGated = false }

struct GraphRunnerConfiguration: Decodable, Sendable { var key: String }

/// A manager that runs graphs, whose calls wait in a swap or do not.
final class GraphRunner<Kind: GraphRunnerKind>: Manager {
    typealias Provides = GraphRunning
    typealias Configuration = GraphRunnerConfiguration
    struct Wires: Wiring { let communicationController: Wire<GraphClerking> }
    static var className: String { Kind.isGated ? "ExclusiveGraphRunner" : "GraphRunner" }
    static var isExclusive: Bool { Kind.isGated }
    private let script: GraphRunnerScript
    private let journal: GraphRunnerJournal
    private let context: Context

    init(_ context: Context) throws {
        journal = try GraphRunnerJournal.of(context.configuration.key)
        (script, self.context) = (journal.script, context)
    }

    func activate() async throws { try script.activated() }

    private func start(_ name: String) throws {
        var graph = GraphBuilder(name)
        let script = script, journal = journal, context = context
        let node = graph.add("single") {
            try await script.visit()
            return try await context.wires.communicationController.edition(Nothing(), context.begin())
        }
        let end = graph.add("end", after: node) { clerk in
            context.log.info("the graph of edition \(script.edition) has called edition \(clerk)")
            journal.visits.add("\(script.edition), \(clerk)")
        }
        _ = context.operations.start(try graph.build(returning: end))
    }

    static func methods(_ table: inout Methods) {
        table.async(\.start) { runner, name, _ in
            try runner.start(name)
            return Nothing()
        }
        table.async(\.edition) { runner, _, _ in runner.script.edition }
    }
}
