import Backplane
import BackplaneStorage
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneControl
@testable import BackplaneExchange
@testable import BackplaneHost
@testable import BackplaneTools

/// `backplane graph`, `explain`, `services` and `names` as processes: what goes where, and how they end.
@Suite(.timeLimit(.minutes(10)))
struct LookTests {
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

    @Test(arguments: [["graph"], ["services", "--json"], ["names"], ["explain"]])
    func `of a sound manifest they print a result and nothing else, and leave nothing`(arguments: [String]) async throws
    {
        let words =
            [arguments[0], Self.both] + (arguments[0] == "explain" ? ["LibraryManager"] : []) + arguments.dropFirst()
        let outcome = try await tool.start(
            words + ["--data", tool.data, "--load-folder", tool.loads, "--log-level", "trace"]
        ).end()
        #expect(outcome.status == 0)
        #expect(outcome.errors == "", "nothing is started")
        #expect(outcome.output.contains("LibraryManager") && !outcome.output.contains("\u{1B}"))
        if arguments.contains(where: { $0.contains("json") }) {
            _ = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        }
        #expect(tool.loadFolders() == [] && !FileManager.default.fileExists(atPath: tool.data))
    }

    @Test(arguments: ["services"])
    func `of one with faults they print what there is, and say so on standard error`(command: String) async throws {
        let path = try faulty()
        let outcome = try await tool.run(command, path, "--environment", "")
        #expect(outcome.status == 0 && outcome.output.contains("Clock"))
        #expect(
            outcome.errors
                == "backplane: \(path) has 1 error; 1 manager cannot be created: `backplane check \(path) --environment ''` lists all\n"
        )
    }

    @Test(arguments: ["graph", "explain"])
    func `of one that cannot be read they say why, with its place`(command: String) async throws {
        let path = try tool.write("{\n  \"managers\": {\n", as: "half.json")
        let outcome = try await tool.start(
            [command, path] + (command == "explain" ? ["A"] : []) + ["--load-folder", tool.loads]
        ).end()
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.hasPrefix("\(path):3:1: error: "), "\(outcome.errors)")
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

    @Test func `a service without code is one like all others`() async throws {
        let manifest = Tool.manifests + "/bookshelf-definition.json"
        let graph = try await tool.run("graph", manifest)
        #expect(graph.status == 0 && graph.errors == "", "\(graph)")
        #expect(graph.output.contains("WebService 1.0.0 of plugin definition.Books, encoded"), "\(graph.output)")
        #expect(graph.output.contains("the definition of `Books` returns JSON"), "\(graph.output)")
    }
}

/// The widest tables, in a terminal of 40 columns.
struct NarrowTableTests {
    private static let statistics = [
        ComponentStatistics(
            component: "ReadingRoomManager", role: "manager", managers: ["ReadingRoomManager"],
            plugin: "org.backplane.bookshelf", generation: 12, calls: 1_234_567, errors: 3, inFlight: 4, waiting: 5,
            streams: StreamStatistics(), timers: [], timerCount: 0, exchanges: ExchangeStatistics(), latency: nil,
            lastFailure: FailureStatistics(
                BackplaneError(.componentFailed, "the shelf `fiction` has no room for another book"),
                at: 1_764_107_045))
    ]
    private static let generation = {
        var generation = Generation(
            plugin: "org.backplane.bookshelf", number: 12, version: Version(2, 1), library: nil, state: .onProbation,
            loadedAt: 1_764_107_045)
        generation.heldBy = ["1 call of LibraryManager.search has not ended", "rollback"]
        return generation
    }()
    private static let collection = StoreCollection(
        namespace: "BookStore", collection: "loans", records: 1_000, change: 1, changed: 1_764_107_045,
        indexes: [IndexDefinition("due"), IndexDefinition("book", isUnique: true)], bytes: 194_000)

    @Test(arguments: [
        StatisticsTable.table(Self.statistics), StatisticsTable.failures(Self.statistics),
        GenerationRows.table([Self.generation]), ServiceList(.books).table,
        BackplaneTool.Store.List.table([Self.collection]),
    ])
    func `no line is wider than the terminal, and nothing is cut`(table: Table) {
        let lines = table.lines(colour: false, width: 40)
        #expect(lines.allSatisfy { $0.displayWidth <= 40 }, "\(lines.joined(separator: "\n"))")
        // Without white space, in which alone the lines may differ.
        func characters(_ texts: [String]) -> String { texts.joined().filter { $0 != " " } }
        #expect(characters(lines) == characters(table.header + table.rows.flatMap { $0.map(\.text) }))
    }
}

/// The tables of `stats`.
struct StatsTests {
    @Test func `a row for each host has what runs, waits and was refused, and the breaker`() throws {
        let table = StatisticsTable.limits([
            LimitStatistics(host: "books.example.org:443", running: 4, waiting: 12, refused: 0),
            LimitStatistics(
                host: "covers.example.org:443", running: 0, waiting: 0, refused: 3, breaker: "open",
                nextProbe: .milliseconds(12_340)),
            LimitStatistics(host: "[::1]:8080", running: 1, waiting: 0, refused: 0, breaker: "closed"),
        ])
        try expectSnapshot(table.lines(colour: false).joined(separator: "\n") + "\n", "stats-limits")
        #expect(StatisticsTable.limits([]).rows.isEmpty)
    }
}
