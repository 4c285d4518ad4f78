import Backplane
import BackplaneOperations
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// Graphs while their component is swapped: a swap treats one as it treats a long call.
@Suite(.timeLimit(.minutes(5)))
struct GraphSwapTests {
    /// The script of an edition whose graphs wait at a gate.
    private func script(_ edition: Int = 1, waitingAt gate: TestGate? = nil) -> GraphRunnerScript {
        GraphRunnerScript(edition: edition) { try await gate?.pass() }
    }

    private func error(_ body: () async throws -> Void) async -> BackplaneError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BackplaneError
        }
    }

    @Test func `a graph ends in the code that began it, or the swap names it`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let failure = await error {
            try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            failure?.message.contains("the graph `single` of GraphRunner") == true, "\(String(describing: failure))")
        let swap = Task { try await runners.swap(script(3)) }
        gate.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(runners.journal.visits.all == ["1, 1"])
        await runners.stop()
    }

    @Test func `a swap comes later than a graph that outlasts the drain`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let swap = Task {
            try await runners.swap(
                script(2), drain: .upTo(.milliseconds(20), then: .retry(attempts: 1_000, within: .seconds(3_600))))
        }
        _ = try await runners.journal.log.record("a swap is waiting for long calls")
        // The old code answers meanwhile.
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 1)
        gate.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(runners.journal.visits.all == ["1, 1"])
        await runners.stop()
    }

    @Test func `a swap that cancels long calls cancels graphs, and says so`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let report = try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .cancel))
        #expect(
            report.warnings == [
                "cancelled: graphs have not ended within 0.02 seconds: the graph `single` of GraphRunner"
            ])
        #expect(report.components.flatMap(\.graphs) == [])
        #expect(runners.journal.visits.all == [])
        #expect(runners.host.operations.all.isEmpty)
        await runners.stop()
    }

    @Test func `a graph of a component whose calls do not wait ends in the old code after the swap`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate), isExclusive: false)
        try await runners.start()
        try await gate.arrivals()
        let report = try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        let runner = report.components.first { $0.component == "GraphRunner" }
        #expect(runner?.manner == .ungated && runner?.graphs == ["single"], "\(report)")
        #expect(report.warnings == [])
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 2)
        let holders = try await runners.host.generations().first { $0.number == 1 }?.heldBy
        #expect(holders?.first == "1 graph of GraphRunner that has not ended")
        #expect(runners.host.operations.all.map(\.component) == ["GraphRunner"])
        // What the host does for the old instance continues: its calls reach the new code, and its log the host.
        gate.open()
        _ = try await runners.journal.log.record("the graph of edition 1 has called edition 2")
        #expect(try await runners.journal.visits.first { !$0.isEmpty } == "1, 2")
        await runners.stop()
        #expect(runners.host.operations.all.isEmpty)
    }

    @Test func `graphs of a component that the manifest no longer has are cancelled, and named`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate), isExclusive: false)
        try await runners.start()
        try await gate.arrivals()
        let empty = Manifest(managers: [:])
        let report = try await runners.host.swap([], applying: ManifestDocument(empty))
        #expect(
            report.warnings == [
                "the graph `single` of GraphRunner was cancelled, because the manifest no longer has its component"
            ])
        #expect(runners.host.operations.all.isEmpty && runners.journal.visits.all == [])
        await runners.stop()
    }

    @Test func `a swap that fails leaves the graph where it was`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        var broken = script(2)
        broken.activated = { throw GraphRunnerMistake(description: "the activation failed") }
        let swap = Task { try await runners.swap(broken) }
        gate.open()
        let failure = await error { _ = try await swap.value }
        #expect(failure?.message.contains("the activation failed") == true, "\(String(describing: failure))")
        #expect(runners.journal.visits.all == ["1, 1"])
        await runners.stop()
    }
}

/// The queues of a component: `context.operations` and further ones.
@Suite(.timeLimit(.minutes(2)))
struct ContextOperationsTests {
    @Test func `a component has one queue and further ones, which end with it`() async throws {
        try await TestHost.run("GraphStarter", plugins: [GraphStarterPlugin.self]) { test in
            let starter: Remote<GraphStarting> = try await test.manager("GraphStarter")
            #expect(try await starter.count(Nothing(), test.begin()) == 3)
            #expect(test.host.operations.all.isEmpty, "whoever waits for a graph is told of its end after the host")
            // Graphs that never end by themselves.
            _ = try await starter.wait("", test.begin())
            _ = try await starter.wait("covers", test.begin())
            #expect(test.host.operations.all.map(\.queue) == ["", "covers"])
        }
        for name in ["", "covers"] { _ = try await GraphStarter.log.first { $0 == "cancelled in `\(name)`" } }
    }
}

private struct GraphStarting: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<Nothing, Int>()
    /// Starts a graph in the queue of a name, and returns when its node runs.
    let wait = AsyncMethod<String, Nothing>()
}

private struct GraphStarterPlugin: Plugin {
    static let id = "org.backplane.tests.graph-starter"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(GraphStarter.self)
    }
}

private final class GraphStarter: Manager {
    typealias Provides = GraphStarting
    static let className = "GraphStarter"
    static let log = Recording<String>()
    private let context: Context
    private let covers: GraphQueue

    init(_ context: Context) {
        self.context = context
        covers = GraphQueue("covers", width: 1, besides: context.operations)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { starter, _, _ in
            var graph = GraphBuilder("count")
            let one = graph.add("one") { 1 }
            let three = graph.add("three", after: one) { $0 + 2 }
            // Through two uses of the property, which are the same queue.
            starter.context.operations.pause()
            let run = starter.context.operations.start(try graph.build(returning: three))
            starter.context.operations.resume()
            return try await run.value
        }
        table.async(\.wait) { starter, name, _ in
            let begun = TestGate()
            var graph = GraphBuilder("wait")
            let waiting = graph.add("wait") {
                begun.open()
                do {
                    try await TestGate().pass()
                } catch {
                    GraphStarter.log.add("cancelled in `\(name)`")
                    throw error
                }
            }
            let queue = name.isEmpty ? starter.context.operations : starter.covers
            _ = queue.start(try graph.build(returning: waiting))
            try await begun.pass()
            return Nothing()
        }
    }
}

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
