import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Synchronization
import TestFixtures

@testable import BackplaneHost

struct Feeding: Contract {
    static let name = "Feed"
    static let version: Version = "1.0.0"
    /// What the script sends.
    let numbers = StreamMethod<Int, Int>()
    /// All numbers from one on.
    let counted = StreamMethod<CountedFrom, Int>()
    let edition = SyncMethod<Nothing, Int>()
}

struct CountedFrom: Codable, Sendable, Resumable {
    var first: Int
    /// A negative number stands for "from now on".
    var hasPosition: Bool { first >= 0 }

    func resuming(after last: Int) -> CountedFrom { CountedFrom(first: last + 1) }
}

/// The steps of a feed in one edition of its plugin, defined by a test.
struct FeedScript: Sendable {
    var edition = 1
    var made: @Sendable () async throws -> Void = {}
    var health: @Sendable () async throws -> Void = {}
    /// Default: the edition, without end.
    var body: @Sendable (Int, StreamSender<Int>) async throws -> Void
    /// Default: all numbers from one on.
    var counted: @Sendable (Int, StreamSender<Int>) async throws -> Void = { first, elements in
        for number in first... { try await elements.send(number) }
    }
    /// What a reader does with the feed that it is wired to.
    var read: @Sendable (Wire<Feeding>, Call) async throws -> Void = { _, _ in }

    init(_ edition: Int, _ body: (@Sendable (Int, StreamSender<Int>) async throws -> Void)? = nil) {
        self.edition = edition
        self.body =
            body ?? { _, elements in
                while true { try await elements.send(edition) }
            }
    }
}

/// The events of the feeds of one key, and the script of those that are created next.
final class FeedRecord: Sendable {
    private static let all = Mutex<[String: FeedRecord]>([:])
    let key: String
    private let current: Mutex<FeedScript>
    private let recording = Recording<String>()

    init(_ script: FeedScript = FeedScript(1)) {
        let number = Self.all.withLock { $0.count }
        key = "\(number) \(UInt64.random(in: 0 ..< .max))"
        current = Mutex(script)
        let own = self
        Self.all.withLock { $0[key] = own }
    }

    static func of(_ key: String) -> FeedRecord { all.withLock { $0[key] } ?? FeedRecord() }

    var script: FeedScript { current.withLock(\.self) }
    var events: [String] { recording.all }
    func note(_ event: String) { recording.add(event) }
    func until(_ isReached: @escaping @Sendable ([String]) -> Bool) async throws {
        try await recording.until(isReached)
    }
    func next(_ script: FeedScript) { current.withLock { $0 = script } }
}

/// A host of one feed and one reader, whose plugins are swapped for other editions.
struct FeedHost {
    static let plugin = "org.backplane.tests.feeds"
    static let readerPlugin = "org.backplane.tests.readers"
    let test: TestHost
    let record: FeedRecord
    let reader: FeedRecord
    let feed: Remote<Feeding>

    var host: PluginHost { test.host }

    /// - Parameter isGated: whether calls to the feed wait while it is swapped.
    static func with(
        _ script: FeedScript = FeedScript(1), isGated: Bool, lanes: LaneRule,
        reading: @escaping @Sendable (Wire<Feeding>, Call) async throws -> Void = { _, _ in },
        _ body: (FeedHost) async throws -> Void
    ) async throws {
        var readerScript = FeedScript(1)
        readerScript.read = reading
        let record = FeedRecord(script), reader = FeedRecord(readerScript)
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": [],
            "managers": [
                "Feed": [
                    "className": .string(isGated ? "GatedFeed" : "PlainFeed"),
                    "configuration": ["key": .string(record.key)],
                ],
                "Reader": [
                    "className": "FeedReader", "configuration": ["key": .string(reader.key)],
                    "uses": ["feed": "Feed"],
                ],
                "Relay": [
                    "className": .string(isGated ? "GatedFeedRelay" : "PlainFeedRelay"), "uses": ["feed": "Feed"],
                ],
            ],
        ]
        let test = try TestHost(
            String(decoding: manifest.json, as: UTF8.self), linked: [edition(1), readerEdition(1)], lanes: lanes)
        let host = FeedHost(
            test: test, record: record, reader: reader, feed: try await test.host.manager("Feed"))
        do {
            try await body(host)
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    static func edition(_ number: Int) -> LinkedPlugin {
        LinkedPlugin(id: plugin, version: Version(number)) {
            $0.add(FeedingManager<PlainFeed>.self)
            $0.add(FeedingManager<GatedFeed>.self)
        }
    }

    static func readerEdition(_ number: Int) -> LinkedPlugin {
        LinkedPlugin(id: readerPlugin, version: Version(number)) {
            $0.add(FeedReader.self)
            $0.add(FeedRelay<PlainFeed>.self)
            $0.add(FeedRelay<GatedFeed>.self)
        }
    }

    /// Swaps the feed for one with another script.
    @discardableResult
    func swap(_ script: FeedScript, _ options: ChangeOptions = .patient)
        async throws(BackplaneError) -> ChangeReport
    {
        record.next(script)
        return try await swap(Self.edition(script.edition), options)
    }

    @discardableResult
    func swap(_ plugin: LinkedPlugin, _ options: ChangeOptions = .patient)
        async throws(BackplaneError) -> ChangeReport
    {
        try await swap([plugin], options)
    }

    /// Swaps plugins together.
    @discardableResult
    func swap(_ plugins: [LinkedPlugin], _ options: ChangeOptions = .patient)
        async throws(BackplaneError) -> ChangeReport
    {
        let coordinator = host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: plugins, options)
        }
    }
}

/// What a feed's class says of itself.
protocol FeedTraits: Sendable {
    static var className: String { get }
    static var isExclusive: Bool { get }
}

enum PlainFeed: FeedTraits {
    static let className = "PlainFeed"
    static let isExclusive = false
}

enum GatedFeed: FeedTraits {
    static let className = "GatedFeed"
    static let isExclusive = true
}

final class FeedingManager<Traits: FeedTraits>: Manager {
    typealias Provides = Feeding
    struct Configuration: Decodable, Sendable {
        var key: String
    }
    static var className: String { Traits.className }
    static var isExclusive: Bool { Traits.isExclusive }
    private let record: FeedRecord
    private let script: FeedScript

    init(_ context: Context) async throws {
        record = FeedRecord.of(context.configuration.key)
        script = record.script
        try await script.made()
    }

    deinit { record.note("gone \(script.edition)") }

    func suspend() async { record.note("suspend \(script.edition)") }
    func resume() async { record.note("resume \(script.edition)") }
    func health() async throws { try await script.health() }

    static func methods(_ table: inout Methods) {
        table.sync(\.edition) { feed, _, _ in feed.script.edition }
        table.stream(\.counted) { feed, input, elements, _ in
            feed.record.note("begin \(feed.script.edition)")
            defer { feed.record.note("end \(feed.script.edition)") }
            try await feed.script.counted(input.first, elements)
        }
        table.stream(\.numbers) { feed, input, elements, _ in
            feed.record.note("begin \(feed.script.edition)")
            defer { feed.record.note("end \(feed.script.edition)") }
            try await feed.script.body(input, elements)
        }
    }
}

/// A manager that reads the feed from its `activate` on, in a task that nobody ends.
final class FeedReader: Manager {
    typealias Configuration = FeedingManager<PlainFeed>.Configuration
    struct Wires: Wiring {
        let feed: Wire<Feeding>
    }
    static var isExclusive: Bool { true }
    private let record: FeedRecord
    private let context: Context

    init(_ context: Context) {
        (self.context, record) = (context, FeedRecord.of(context.configuration.key))
    }

    func activate() async throws {
        let (record, feed, call) = (record, context.wires.feed, context.begin())
        Task {
            do {
                try await record.script.read(feed, call)
                record.note("read")
            } catch {
                record.note("failed: \((error as? BackplaneError)?.code.rawValue ?? "\(error)")")
            }
        }
    }
}

/// A manager that passes on the feed's elements.
final class FeedRelay<Traits: FeedTraits>: Manager {
    typealias Provides = Feeding
    typealias Wires = FeedReader.Wires
    static var className: String { "\(Traits.className)Relay" }
    static var isExclusive: Bool { Traits.isExclusive }
    private let feed: Wire<Feeding>

    init(_ context: Context) { feed = context.wires.feed }

    static func methods(_ table: inout Methods) {
        table.sync(\.edition) { relay, _, call in try relay.feed.edition(call) }
        table.stream(\.counted) { relay, input, elements, call in
            for try await number in relay.feed.counted(input, call) { try await elements.send(number) }
        }
        table.stream(\.numbers) { relay, input, elements, call in
            for try await number in relay.feed.numbers(input, call) { try await elements.send(number) }
        }
    }
}
