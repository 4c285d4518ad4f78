public import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneNetwork
import BackplaneStorage
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(2)))
struct FakeTests {
    private func lend(
        _ fakes: [Fake.Place: Fake], lanes: LaneRule = .fastest, setUp: (TestHost) -> Void = { _ in }
    ) async throws -> String {
        try await TestHost.run(.lending, plugins: [LendingPlugin.self], fakes: fakes, lanes: lanes) { host in
            setUp(host)
            return try await host.manager(.librarian).lend("whale")
        }
    }

    private func service(_ host: TestHost) {
        host.http.on("GET", "http://lending.test/whale", .status(200, text: "lent"))
    }

    private static let network = Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in "ran \(text)" } }

    @Test func `without a fake everything is real`() async throws {
        #expect(try await lend([:], setUp: service) == "200 lent 1 at 12")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a communication controller is replaced with its services, in both lanes`(lanes: LaneRule) async throws {
        #expect(
            try await lend([.communicationController(of: "Librarian"): Self.network], lanes: lanes)
                == "ran whale 1 at 12")
    }

    @Test func `a data access controller is replaced`() async throws {
        let kept = Recording<String>()
        let ledger = Fake(Ledger.self) { ledger in
            ledger.async(\.keep) { text, _ in
                kept.add(text)
                return 40 + kept.all.count
            }
        }
        #expect(try await lend([.dataAccessController(of: "Librarian"): ledger], setUp: service) == "200 lent 41 at 12")
        #expect(kept.all == ["200 lent"])
    }

    @Test func `a service is replaced by the property that receives it`() async throws {
        let api = Fake(LendingAPI.self) { $0.async(\.send) { text, _ in "sent \(text)" } }
        #expect(try await lend([.service("api", of: "Librarian"): api]) == "sent whale 1 at 12")
    }

    @Test(arguments: [Fake.Place.manager("ReadingClock"), .use("hours", of: "Librarian")])
    func `another manager is replaced by its name or where it is used`(place: Fake.Place) async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 3 } }
        #expect(try await lend([place: hours], setUp: service) == "200 lent 1 at 3")
    }

    @Test func `a manager that a component looks up can be added`() async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 5 } }
        let answer = try await TestHost.run(
            "ClockReader", plugins: [LendingPlugin.self], fakes: [.addedManager("ReadingClock"): hours]
        ) { host in
            try await host.manager("ClockReader", as: LendingNetwork.self).run("ReadingClock")
        }
        #expect(answer == "5")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a member without a closure says so when it is called`(lanes: LaneRule) async throws {
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.manager("Librarian"): Fake(Lending.self)], lanes: lanes
        ) { host in
            let lending = try await host.manager(.librarian)
            let asynchronous = await #expect(throws: BackplaneError.self) { try await lending.lend("whale") }
            let synchronous = #expect(throws: BackplaneError.self) { try lending.count() }
            #expect(asynchronous?.code == .callUnimplemented)
            #expect(asynchronous?.message == "Fake.Lending replaces a Lending but does not implement `lend`")
            #expect(synchronous?.message == "Fake.Lending replaces a Lending but does not implement `count`")
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a contract's own error is caught with its type`(lanes: LaneRule) async throws {
        let lent = Fake(Lending.self) { lending in
            lending.async(\.lend) { book, _ in throw Lending.Failure(book: book) }
            lending.sync(\.count) { _, _ in throw Lending.Failure(book: "all") }
        }
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.manager("Librarian"): lent], lanes: lanes
        ) { host in
            let lending = try await host.manager(.librarian)
            await #expect(throws: Lending.Failure(book: "whale")) { try await lending.lend("whale") }
            #expect(throws: Lending.Failure(book: "all")) { try lending.count() }
        }
    }

    @Test func `what a closure throws arrives as a component's error does`() async throws {
        struct LendingFailure: ComponentError {
            var code: String { "api.failed" }
            var message: String { "the API has failed" }
        }
        let api = Fake(LendingAPI.self) { $0.async(\.send) { _, _ in throw LendingFailure() } }
        let error = await error { try await lend([.service("api", of: "Librarian"): api]) }
        #expect(
            error
                == BackplaneError(
                    .componentFailed, "the API has failed", failure: BackplaneError.Failure(code: "api.failed")))
    }
}

/// Fakes that take their time.
extension FakeTests {
    @Test func `a call that is cancelled cancels the fake that it waits for`() async throws {
        let gate = TestGate()
        let network = Fake(LendingNetwork.self) {
            $0.async(\.run) { text, _ in
                try await gate.pass()
                return text
            }
        }
        let call = Task { try await lend([.communicationController(of: "Librarian"): network]) }
        try await gate.arrivals()
        call.cancel()
        let error = await #expect(throws: BackplaneError.self) { try await call.value }
        #expect(error?.code == .callCancelled)
    }
}

/// Fakes that do not fit.
extension FakeTests {
    private func refusal(_ fakes: [Fake.Place: Fake]) async -> String {
        let error = await #expect(throws: ManifestRefused.self) { try await lend(fakes) }
        return error?.description ?? ""
    }

    @Test func `one that provides another contract is the manifest's problem`() async {
        #expect(
            await refusal([.communicationController(of: "Librarian"): Fake(Hours.self)]) == """
                there is a problem with the manifest
                  /managers/Librarian/communicationController/className: wire.mismatch: `Librarian` 1.0.0 of plugin `org.example.lending` asks for `LendingNetwork` 1.0.0 \
                as `communicationController`, but `Fake.Hours` 1.0.0 of plugin `org.backplane.testkit.fakes` provides `Hours` 1.0.0
                """)
    }

    @Test func `an unused fake is a problem of the manifest, and all problems are reported at once`() async {
        let text = await refusal([
            .use("moon", of: "Librarian"): Fake(Hours.self), .service("drum", of: "Librarian"): Fake(LendingAPI.self),
        ])
        #expect(text.hasPrefix("there are 2 problems with the manifest\n"), "\(text)")
        #expect(text.contains("declares no wire `moon`") && text.contains("has no property `drum`"), "\(text)")
    }

    @Test(arguments: [
        (
            [Fake.Place.dataAccessController(of: "Libarian")],
            "manager.unknown: a fake replaces the data access controller of `Libarian`, but the manifest has no manager `Libarian`; it has `Librarian`, `ReadingClock`"
        ),
        (
            [.manager("OtherClock")],
            "manager.unknown: a fake replaces the manager `OtherClock`, but the manifest has no manager `OtherClock`; it has `Librarian`, `ReadingClock`"
        ),
        (
            [.addedManager("ReadingClock")],
            "wire.mismatch: a fake replaces the added manager `ReadingClock`, but the manifest already has a manager of that name; `.manager(\"ReadingClock\")` replaces it"
        ),
        (
            [.dataAccessController],
            "manager.unknown: a fake replaces the data access controller, but the manifest has 2 managers; choose the manager with `of:`"
        ),
        (
            [.service("api", of: "ReadingClock")],
            "manifest.missing-key: a fake replaces the service `api` of `ReadingClock`, which has no communication controller to receive it"
        ),
    ])
    func `a place that is not there is an error that says what is`(places: [Fake.Place], words: String) async {
        let fakes = Dictionary(uniqueKeysWithValues: places.map { ($0, Fake(LendingAPI.self)) })
        let error = await #expect(throws: BackplaneError.self) { try await lend(fakes) }
        #expect(error?.description == words)
    }

    @Test func `two fakes for one place are an error`() async {
        let error = await #expect(throws: BackplaneError.self) {
            try await TestHost.run(
                "Librarian", plugins: [LendingPlugin.self],
                fakes: [
                    .communicationController: Self.network, .communicationController(of: "Librarian"): Self.network,
                ]
            ) { try await $0.manager(.librarian).lend("whale") }
        }
        #expect(
            error?.description
                == "wire.mismatch: two fakes replace the communication controller of `Librarian`; remove one of them")
    }
}

/// Streams in tests, and the examples of docs/reference/streams.md, which are this target's code.
@Suite(.timeLimit(.minutes(2)))
struct StreamTests {
    private func total(from first: Int, _ fakes: [Fake.Place: Fake] = [:], lanes: LaneRule) async throws -> Int {
        let manifest = Manifest(managers: [
            "Feed": ManagerDefinition(className: "FeedManager"),
            "Totals": ManagerDefinition(className: "TotalsManager", uses: ["feed": "Feed"]),
        ])
        return try await TestHost.run(manifest, plugins: [FeedPlugin.self], fakes: fakes, lanes: lanes) { host in
            let totals: Remote<Totals> = try await host.manager("Totals")
            return try await totals.total(first)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a component reads a stream`(lanes: LaneRule) async throws {
        #expect(try await total(from: 10, lanes: lanes) == (10..<110).reduce(0, +))
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a fake gives a stream that a test feeds`(lanes: LaneRule) async throws {
        let (changes, feed) = AsyncStream.makeStream(of: Change.self)
        for amount in [1, 20, 300] { feed.yield(Change(number: 0, amount: amount)) }
        feed.finish()
        let fake =
            Fake(Feed.self) { feed in
                feed.stream(\.changes) { _, elements, _ in try await elements.send(contentsOf: changes) }
            }
        #expect(try await total(from: 0, [.manager("Feed"): fake], lanes: lanes) == 321)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a stream that a fake does not give is an error`(lanes: LaneRule) async throws {
        let thrown = await error { try await total(from: 0, [.manager("Feed"): Fake(Feed.self)], lanes: lanes) }
        #expect(thrown?.code == .callUnimplemented)
    }
}

/// The plugin of docs/reference/streams.md.
struct FeedPlugin: Plugin {
    static let id = "org.example.feed"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(FeedManager.self)
        registrar.add(TotalsManager.self)
    }
}

public struct FeedQuery: Codable, Sendable {
    var first: Int
}

extension FeedQuery: Resumable {
    public func resuming(after last: Change) -> FeedQuery { FeedQuery(first: last.number + 1) }
}

public struct Change: Codable, Sendable {
    var number: Int
    var amount: Int
}

public struct Feed: Contract {
    public static let version: Version = "1.1.0"
    public let changes = StreamMethod<FeedQuery, Change>()
    public init() {}
}

final class FeedManager: Manager {
    typealias Provides = Feed

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.stream(\.changes) { feed, query, elements, call in
            try await elements.send(contentsOf: feed.source(query))
        }
    }

    private func source(_ query: FeedQuery) -> AsyncStream<Change> {
        AsyncStream { changes in
            for number in query.first..<query.first + 100 { changes.yield(Change(number: number, amount: number)) }
            changes.finish()
        }
    }
}

struct Totals: Contract {
    static let version: Version = "1.0.0"
    /// The sum of all changes from this number on.
    let total = AsyncMethod<Int, Int>()
}

final class TotalsManager: Manager {
    typealias Provides = Totals
    struct Wires: Wiring {
        let feed: Wire<Feed>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.total) { totals, first, call in try await totals.total(FeedQuery(first: first), call) }
    }

    private func total(_ query: FeedQuery, _ call: Call) async throws -> Int {
        var total = 0
        for try await change in wires.feed.changes(query, call) { total += change.amount }
        return total
    }
}

/// The plugin that the kit is tested with: a manager with everything that a manager can have around it.
struct LendingPlugin: Plugin {
    static let id = "org.example.lending"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Librarian.self)
        registrar.add(LoanStore.self)
        registrar.add(LendingCommunication.self)
        registrar.add(LendingService.self)
        registrar.add(ReadingClock.self)
        registrar.add(ClockReader.self)
    }
}

struct Lending: Contract {
    static let version: Version = "1.0.0"
    struct Failure: ContractError, Equatable {
        var book: String
        var code: String { "lending.lent" }
        var message: String { "`\(book)` is lent" }
    }
    /// Asks the service, keeps its answer and says when that was.
    let lend = AsyncMethod<String, String>()
    let count = SyncMethod<Nothing, Int>()
}

struct Ledger: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<String, Int>()
}

struct LendingNetwork: Contract {
    static let version: Version = "1.0.0"
    let run = AsyncMethod<String, String>()
}

struct LendingAPI: Contract {
    static let version: Version = "1.0.0"
    let send = AsyncMethod<String, String>()
}

struct Hours: Contract {
    static let version: Version = "1.0.0"
    let now = SyncMethod<Nothing, Int>()
}

final class Librarian: Manager {
    typealias Provides = Lending
    struct Configuration: Decodable, Sendable {
        var greeting: String?
    }
    struct Wires: Wiring {
        let dataAccessController: Wire<Ledger>
        let communicationController: Wire<LendingNetwork>
        let hours: Wire<Hours>?
    }
    private let wires: Wires
    private let greeting: String

    init(_ context: Context) {
        wires = context.wires
        greeting = context.configuration.greeting ?? ""
        context.log.info("created")
    }

    static func methods(_ table: inout Methods) {
        table.async(\.lend) { librarian, text, call in
            let answer = try await librarian.wires.communicationController.run(text, call)
            let count = try await librarian.wires.dataAccessController.keep(answer, call)
            let hour = try librarian.wires.hours?.now(call)
            return "\(librarian.greeting)\(answer) \(count)" + (hour.map { " at \($0)" } ?? "")
        }
        table.sync(\.count) { _, _, _ in 7 }
    }
}

final class LoanStore: DataAccessController {
    typealias Provides = Ledger
    struct Entry: Record, Hashable {
        static let collection = "entries"
        var id: String
    }
    private let entries: RecordCollection<Entry>
    init(_ context: Context) { entries = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, text, _ in
            try await store.entries.save(Entry(id: text))
            return try await store.entries.count()
        }
    }
}

final class LendingCommunication: CommunicationController {
    typealias Provides = LendingNetwork
    struct Wires: Wiring {
        let api: Wire<LendingAPI>
    }
    private let wires: Wires
    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.run) { communication, text, call in try await communication.wires.api.send(text, call) }
    }
}

final class LendingService: NetworkService {
    typealias Provides = LendingAPI
    private let http: HTTPClient
    init(_ context: Context) { http = context.http }

    static func methods(_ table: inout Methods) {
        table.async(\.send) { service, text, call in
            var options = HTTPOptions()
            options.retry = RetryPolicy()
            let response = try await service.http.send(
                HTTPRequest("GET", "http://lending.test/\(text)"), call, options)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        }
    }
}

final class ReadingClock: Manager {
    typealias Provides = Hours
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in 12 }
    }
}

/// Asks the manager that it is told for the hour.
final class ClockReader: Manager {
    typealias Provides = LendingNetwork
    private let context: Context
    init(_ context: Context) { self.context = context }
    static func methods(_ table: inout Methods) {
        table.async(\.run) { reader, name, call in
            let hours = try await reader.context.manager(name, as: Hours.self, for: call)
            return "\(try hours.now(call))"
        }
    }
}

extension Manifest {
    /// Everything real.
    static let lending = Manifest(managers: [
        "Librarian": ManagerDefinition(
            className: "Librarian", uses: ["hours": "ReadingClock"],
            dataAccessController: ComponentDefinition(className: "LoanStore"),
            communicationController: ComponentDefinition(
                className: "LendingCommunication",
                services: [ComponentDefinition(className: "LendingService", propertyName: "api")])),
        "ReadingClock": ManagerDefinition(className: "ReadingClock"),
    ])
}

extension ManagerName where C == Lending {
    static var librarian: Self { "Librarian" }
}
