import Backplane
import BackplaneTestKit
import Foundation
import Synchronization

@testable import BackplaneHost
@testable import BackplaneOperations

/// The behaviour of a runner in one edition of its plugin: the graphs that it defines, and what its nodes do.
struct GraphRunnerScript: Sendable {
    var edition = 1
    /// A Boolean value that indicates whether the round is defined, so that newer code can go on with it.
    var definesRound = true
    /// The names of the stops of a round, each of which needs the one before.
    var stops = ["a", "b", "c", "d"]
    /// A Boolean value that indicates whether the last stop also needs a node whose value JSON cannot express.
    var spoils = false
    /// A function that is called at each stop.
    var visit: @Sendable (String) async throws -> Void = { _ in }
    var activated: @Sendable () throws -> Void = {}
    /// A function that is called with the definition when the runner is activated.
    var starts: @Sendable (NamedGraph<String, String>) -> Void = { _ in }
    var health: @Sendable () throws -> Void = {}
}

/// A host with one runner that is swapped for other editions of its plugin.
struct GraphRunnerHost {
    /// Whether calls of the runner wait during a swap.
    enum Kind: String, CaseIterable, Sendable { case gated = "GatedGraphRunner", ungated = "GraphRunner" }

    static let plugin = "org.backplane.tests.graph-runners"
    let host: PluginHost
    let journal: GraphRunnerJournal
    let runner: Remote<GraphRunning>
    private let kind: Kind
    private let folder: URL

    init(_ kind: Kind, _ script: GraphRunnerScript = GraphRunnerScript()) async throws {
        (self.kind, journal) = (kind, GraphRunnerJournal(script))
        folder = FileManager.default.temporaryDirectory.appending(path: "graph-runner-\(journal.key)")
        var options = HostOptions()
        (options.dataFolder, options.loadFolder) = (folder.path + "/data", folder.path + "/loads")
        (options.log, options.occupationLimit) = (journal.log, nil)
        host = PluginHost(
            manifest: Self.manifest(kind, journal.key, note: "first"), linked: [Self.edition(1)], options: options)
        try await host.start()
        runner = try await host.manager("GraphRunner")
    }

    func stop() async {
        await host.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func manifest(_ kind: Kind, _ key: String, note: String) -> ManifestDocument {
        let text = """
            {"manifestVersion": 1, "managers": {"GraphRunner": {"className": "\(kind.rawValue)", \
            "configuration": {"key": "\(key)", "note": "\(note)"}}}}
            """
        return ManifestDocument(parsing: Data(text.utf8))
    }

    /// Activates a manifest in which the runner has another configuration, so that it is recreated.
    func apply(note: String) async throws {
        try await host.apply(Self.manifest(kind, journal.key, note: note))
    }

    private static func edition(_ number: Int) -> LinkedPlugin {
        LinkedPlugin(id: plugin, version: Version("\(number).0.0")!) {
            $0.add(GatedGraphRunner.self)
            $0.add(GraphRunner.self)
        }
    }

    /// Activates another edition of the plugin, whose runner follows a script.
    @discardableResult
    func swap(
        _ script: GraphRunnerScript, drain: DrainPolicy = .upTo(.seconds(60), then: .fail),
        abandonsGraphs: Bool = false, probation: Probation? = nil
    ) async throws(BackplaneError) -> SwapReport {
        journal.next(script)
        let options = SwapOptions(
            probation: probation, drain: drain, stepLimit: .seconds(60), abandonsGraphs: abandonsGraphs)
        let coordinator = host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [Self.edition(script.edition)], options)
        }
    }

    /// Starts a round, and returns its number in the host.
    func start(_ input: String = "round") async throws -> UInt64 {
        _ = try await runner.start(input, host.begin())
        return host.operations.all.last { $0.name == "round" }?.number ?? 0
    }

    /// A Boolean value that indicates whether a round is halted for a swap, so that none of its nodes begins.
    var isHolding: Bool { journal.isHolding }

    /// Waits for the end of the round that the active code has, and returns its result.
    func result() async throws -> String { try await runner.result(Nothing(), host.begin()) }
}

/// What runners of all editions have done, and the script of those that are created next.
final class GraphRunnerJournal: Sendable {
    private static let all = Mutex<[String: GraphRunnerJournal]>([:])
    let key = UUID().uuidString
    let visits = Recording<String>()
    let log = GraphRunnerLog()
    private let current: Mutex<GraphRunnerScript>
    private let rounds = Mutex<[NamedGraph<String, String>]>([])

    init(_ script: GraphRunnerScript) {
        current = Mutex(script)
        let own = self
        Self.all.withLock { $0[key] = own }
    }

    static func of(_ key: String) -> GraphRunnerJournal? { all.withLock { $0[key] } }

    var script: GraphRunnerScript { current.withLock(\.self) }

    func next(_ script: GraphRunnerScript) { current.withLock { $0 = script } }

    func add(_ round: NamedGraph<String, String>) { rounds.withLock { $0.append(round) } }

    /// A Boolean value that indicates whether a round of any edition is halted.
    var isHolding: Bool {
        rounds.withLock(\.self).contains { round in
            round.run?.engine.state.withLock { $0.scheduler.standsStill && !$0.hasEnded } ?? false
        }
    }
}

/// The messages of the host.
final class GraphRunnerLog: LogSink {
    let messages = Recording<String>()

    func isEnabled(_ level: Log.Level) -> Bool { level >= .warning }

    func write(_ record: LogRecord) { messages.add(record.message) }
}

struct GraphRunning: Contract {
    static let version: Version = "1.0.0"
    /// Starts a round with an input.
    let start = AsyncMethod<String, Nothing>()
    /// Starts a graph that has no definition, and whose only node waits.
    let single = AsyncMethod<String, Nothing>()
    /// The result of the round, once it has ended.
    let result = AsyncMethod<Nothing, String>()
    let control = AsyncMethod<String, Nothing>()
    let edition = AsyncMethod<Nothing, Int>()
}

/// The round of a runner, for both of its classes.
final class GraphRunnerCore: Sendable {
    struct Configuration: Decodable, Sendable {
        var key: String
        var note: String
    }
    let script: GraphRunnerScript
    let journal: GraphRunnerJournal
    let queue: GraphQueue
    let round: NamedGraph<String, String>?

    init(_ key: String, _ queue: GraphQueue) throws {
        guard let journal = GraphRunnerJournal.of(key) else { throw GraphRunnerMistake(description: "no journal") }
        let script = journal.script
        (self.journal, self.script, self.queue) = (journal, script, queue)
        if script.definesRound {
            let round = try queue.define("round") { try Self.round($0, script, journal) }
            journal.add(round)
            self.round = round
        } else {
            round = nil
        }
    }

    func activate() throws {
        try script.activated()
        if let round { script.starts(round) }
    }

    /// Builds a chain of stops, the value of each of which is the way so far.
    private static func round(_ start: String, _ script: GraphRunnerScript, _ journal: GraphRunnerJournal) throws
        -> OperationGraph<String>
    {
        var graph = GraphBuilder("round")
        let first = graph.add("start") { start }
        var last = first
        for stop in script.stops {
            last = graph.add(stop, after: last) { way in
                try await script.visit(stop)
                journal.visits.add("\(stop) \(script.edition)")
                return "\(way) \(stop)"
            }
            graph.onSuccess(of: last) { _, _ in journal.visits.add("\(stop) handled \(script.edition)") }
        }
        if script.spoils {
            let distance = graph.add("distance") { Double.infinity }
            // It has ended once any stop is reached, and is needed until the last one.
            graph.order(first, after: distance)
            graph.order(last, after: distance)
        }
        return try graph.build(returning: last)
    }

    func single(_ name: String) throws {
        var graph = GraphBuilder(name)
        let script = script, journal = journal
        let node = graph.add("single") {
            try await script.visit("single")
            journal.visits.add("single \(script.edition)")
        }
        _ = queue.start(try graph.build(returning: node))
    }

    func result() async throws -> String {
        guard let run = round?.run else { throw GraphRunnerMistake(description: "there is no round") }
        return try await run.value
    }

    func control(_ word: String) {
        switch word {
        case "pause": round?.run?.pause()
        case "resume": round?.run?.resume()
        case "pause queue": queue.pause()
        default: round?.run?.cancel()
        }
    }
}

struct GraphRunnerMistake: Error, CustomStringConvertible { var description: String }

/// A runner that is swapped without anybody waiting.
final class GraphRunner: Manager {
    typealias Provides = GraphRunning
    typealias Configuration = GraphRunnerCore.Configuration
    static let className = "GraphRunner"
    let core: GraphRunnerCore

    init(_ context: Context) throws { core = try GraphRunnerCore(context.configuration.key, context.operations) }

    func activate() async throws { try core.activate() }
    func health() async throws { try core.script.health() }

    static func methods(_ table: inout Methods) {
        table.async(\.start) { runner, input, _ in
            try runner.core.round?.start(input)
            return Nothing()
        }
        table.async(\.single) { runner, name, _ in
            try runner.core.single(name)
            return Nothing()
        }
        table.async(\.result) { runner, _, _ in try await runner.core.result() }
        table.async(\.control) { runner, word, _ in
            runner.core.control(word)
            return Nothing()
        }
        table.async(\.edition) { runner, _, _ in runner.core.script.edition }
    }
}

/// A runner whose calls wait during a swap.
final class GatedGraphRunner: Manager, StatefulComponent {
    typealias Provides = GraphRunning
    typealias Configuration = GraphRunnerCore.Configuration
    struct State: Codable, Sendable { var count = 3 }
    static let className = "GatedGraphRunner"
    static let stateSchema = StateSchema(name: "graph-runner")
    let core: GraphRunnerCore

    init(_ context: Context) throws { core = try GraphRunnerCore(context.configuration.key, context.operations) }

    func activate() async throws { try core.activate() }
    func health() async throws { try core.script.health() }
    func exportState() async throws -> State { State() }
    func importState(_ state: State) async throws {}

    static func methods(_ table: inout Methods) {
        table.async(\.start) { runner, input, _ in
            try runner.core.round?.start(input)
            return Nothing()
        }
        table.async(\.single) { runner, name, _ in
            try runner.core.single(name)
            return Nothing()
        }
        table.async(\.result) { runner, _, _ in try await runner.core.result() }
        table.async(\.control) { runner, word, _ in
            runner.core.control(word)
            return Nothing()
        }
        table.async(\.edition) { runner, _, _ in runner.core.script.edition }
    }
}
