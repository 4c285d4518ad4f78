import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Streams of components that are swapped, in either lane, with and without a gate.
@Suite(.timeLimit(.minutes(10)))
struct StreamSwapTests {
    struct Kind: CaseIterable, Sendable, CustomTestStringConvertible {
        var lanes: LaneRule
        var isGated: Bool

        static let allCases = [
            Kind(lanes: .fastest, isGated: false), Kind(lanes: .fastest, isGated: true),
            Kind(lanes: .encoded, isGated: false), Kind(lanes: .encoded, isGated: true),
        ]
        var testDescription: String {
            "\(lanes == .encoded ? "encoded" : "native"), \(isGated ? "gated" : "not gated")"
        }
    }

    private func with(
        _ kind: Kind, _ script: FeedScript = FeedScript(1),
        reading: @escaping @Sendable (Wire<Feeding>, Call) async throws -> Void = { _, _ in },
        _ body: (FeedHost) async throws -> Void
    ) async throws {
        try await FeedHost.with(script, isGated: kind.isGated, lanes: kind.lanes, reading: reading, body)
    }

    @Test(arguments: Kind.allCases)
    func `streams end when their provider is swapped, and can be opened again`(kind: Kind) async throws {
        try await with(kind) { feeds in
            for edition in 2...6 {
                var iterator = feeds.feed.numbers(0).makeAsyncIterator()
                for _ in 0..<100 { #expect(try await iterator.next() == edition - 1) }
                try await feeds.swap(FeedScript(edition))
                let ended = await error {
                    while let number = try await iterator.next() { #expect(number == edition - 1) }
                }
                #expect(ended?.code == .streamInterrupted)
                for try await number in feeds.feed.numbers(0) {
                    #expect(number == edition)
                    break
                }
                try await feeds.record.until { $0.contains("gone \(edition - 1)") }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a body that ignores its cancellation holds up the release, and not the swap`(kind: Kind) async throws {
        let latch = TestGate()
        let stubborn = FeedScript(1) { _, elements in
            try await elements.send(1)
            await latch.passThoughCancelled()
            // The component is still there, whoever has been swapped in meanwhile.
            try? await elements.send(2)
        }
        try await with(kind, stubborn) { feeds in
            let feed = feeds.feed
            let reader = Task { await error { for try await number in feed.numbers(0) { #expect(number == 1) } } }
            try await latch.arrivals()
            try await feeds.swap(FeedScript(2))
            #expect(await reader.value?.code == .streamInterrupted)
            #expect(try feed.edition() == 2)
            try await feeds.swap(FeedScript(3))
            try await feeds.record.until { $0.contains("gone 2") }
            #expect(!feeds.record.events.contains("gone 1"))
            let holders = try await feeds.host.generations(of: FeedHost.plugin).first?.heldBy ?? []
            #expect(holders.contains("1 stream of Feed whose body has not returned"), "\(holders)")
            latch.open()
            try await feeds.record.until { $0.contains("gone 1") }
            #expect(feeds.record.events.contains("end 1"))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a swap that fails before the flip leaves the streams`(kind: Kind) async throws {
        try await with(kind) { feeds in
            var iterator = feeds.feed.numbers(0).makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == 1)
            var failing = FeedScript(2)
            failing.made = { throw BackplaneError(.componentFailed, "no") }
            #expect(await error { try await feeds.swap(failing) }?.code == .swapFailed)
            for _ in 0..<500 { #expect(try await iterator.next() == 1) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a rollback ends the streams of the new code, and the old code's can be opened`(kind: Kind) async throws {
        try await with(kind) { feeds in
            let feed = feeds.feed, isSick = TestGate()
            var sick = FeedScript(2)
            sick.health = {
                guard isSick.arrived == 0 else { throw BackplaneError(.componentFailed, "sick") }
            }
            feeds.record.next(sick)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    ChangeOptions(
                        probation: Probation(duration: .seconds(600), healthInterval: .seconds(1)),
                        drain: .upTo(.seconds(60), then: .fail)))
            }
            await eventually { (try? feed.edition()) == 2 }
            var iterator = feed.numbers(0).makeAsyncIterator()
            #expect(try await iterator.next() == 2)
            try await feeds.test.clock.waiters(for: .seconds(1))
            isSick.open()
            await isSick.passThoughCancelled()
            feeds.test.clock.advance(by: .seconds(1))
            #expect(try await swap.value.outcome == .rolledBack)
            let ended = await error { while let number = try await iterator.next() { #expect(number == 2) } }
            #expect(ended?.code == .streamInterrupted)
            for try await number in feed.numbers(0) {
                #expect(number == 1)
                break
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `the streams of a component that is swapped are closed`(kind: Kind) async throws {
        let silent = FeedScript(1) { _, _ in try await Task.sleep(for: .seconds(36_000)) }
        try await with(kind, silent, reading: { feed, call in for try await _ in feed.numbers(0, call) {} }) { feeds in
            let reader = feeds.reader
            try await feeds.host.start()
            try await feeds.record.until { $0 == ["begin 1"] }
            try await feeds.swap(FeedHost.readerEdition(2))
            try await feeds.record.until { $0.sorted() == ["begin 1", "begin 1", "end 1"] }
            try await reader.until { $0 == ["failed: call.retired"] }
            try await feeds.swap(FeedHost.readerEdition(3))
            try await reader.until { $0 == ["failed: call.retired", "failed: call.retired"] }
        }
        // The host has stopped: nobody reads any more.
    }

    @Test(arguments: Kind.allCases)
    func `a resumable stream goes on in the new code, without a gap or a repetition`(kind: Kind) async throws {
        let arrived = Atomic(0)
        try await with(
            kind,
            reading: { feed, call in
                var expected = 7
                for try await number in feed.counted(CountedFrom(first: 7), call) {
                    #expect(number == expected)
                    (expected, _) = (number + 1, arrived.store(number, ordering: .relaxed))
                }
            }
        ) { feeds in
            try await feeds.host.start()
            var own = feeds.feed.counted(CountedFrom(first: 0)).makeAsyncIterator(), expected = 0
            for edition in 2...10 {
                let before = arrived.load(ordering: .relaxed)
                await eventually { arrived.load(ordering: .relaxed) > before }
                for _ in 0..<150 {
                    #expect(try await own.next() == expected)
                    expected += 1
                }
                try await feeds.swap(FeedScript(edition))
            }
            try await feeds.host.reset("Feed")
            for _ in 0..<150 {
                #expect(try await own.next() == expected)
                expected += 1
            }
            let before = arrived.load(ordering: .relaxed)
            await eventually { arrived.load(ordering: .relaxed) > before }
            #expect(feeds.reader.events.isEmpty)
            #expect(feeds.record.events.contains("begin 10"))
        }
    }

    @Test(arguments: Kind.allCases)
    func `streams are opened and closed while their provider is swapped`(kind: Kind) async throws {
        try await with(kind) { feeds in
            let feed = feeds.feed
            try await withThrowingTaskGroup(of: Int.self) { group in
                let isOver = TestGate()
                for _ in 0..<4 {
                    group.addTask {
                        var last = 0, read = 0
                        while isOver.arrived == 0 || read == 0 {
                            do throws(BackplaneError) {
                                for try await number in feed.numbers(0) {
                                    if number < last { Issue.record("\(number) after \(last)") }
                                    (last, read) = (number, read + 1)
                                    if read.isMultiple(of: 7) { break }
                                }
                            } catch {
                                guard error.code == .streamInterrupted else { throw error }
                            }
                        }
                        return read
                    }
                }
                for edition in 2...20 { try await feeds.swap(FeedScript(edition)) }
                isOver.open()
                await isOver.passThoughCancelled()
                for try await read in group { #expect(read > 0) }
            }
            await eventually { await feeds.host.coordinator.openStreams == 0 }
            try await feeds.record.until { $0.count { $0.hasPrefix("gone") } == 19 }
        }
    }
}

/// Streams with resumable inputs, whose providers are rolled back, have sent in advance or pass on other streams.
@Suite(.timeLimit(.minutes(10)))
struct ResumedStreamTests {
    /// A reader of all numbers, which follow one another whichever edition of the feed sends them.
    private struct Reader {
        private var numbers: StreamElements<Int, BackplaneError>.Iterator
        private var expected = 0

        init(_ feed: Remote<Feeding>) { numbers = feed.counted(CountedFrom(first: 0)).makeAsyncIterator() }

        /// Reads some numbers: more than a batch, of which the last ones come from the edition that is active now.
        mutating func read(_ count: Int = 150, _ location: SourceLocation = #_sourceLocation) async throws {
            for _ in 0..<count {
                let number = try await numbers.next()
                #expect(number == expected, sourceLocation: location)
                expected += 1
            }
        }
    }

    @Test(arguments: StreamSwapTests.Kind.allCases)
    func `a stream that goes on during a probation goes on in the old code when that is taken back`(
        kind: StreamSwapTests.Kind
    ) async throws {
        try await FeedHost.with(isGated: kind.isGated, lanes: kind.lanes) { feeds in
            let feed = feeds.feed, isSick = TestGate()
            var reader = Reader(feed), sick = FeedScript(2)
            sick.health = {
                guard isSick.arrived == 0 else { throw BackplaneError(.componentFailed, "sick") }
            }
            try await reader.read()
            feeds.record.next(sick)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    ChangeOptions(
                        probation: Probation(duration: .seconds(600), healthInterval: .seconds(1)),
                        drain: .upTo(.seconds(60), then: .fail)))
            }
            await eventually { (try? feed.edition()) == 2 }
            // Calls reach the new edition a moment before the stream of the old one is interrupted.
            repeat { try await reader.read() } while !feeds.record.events.contains("begin 2")
            try await feeds.test.clock.waiters(for: .seconds(1))
            isSick.open()
            await isSick.passThoughCancelled()
            feeds.test.clock.advance(by: .seconds(1))
            #expect(try await swap.value.outcome == .rolledBack)
            try await reader.read()
            let begun = feeds.record.events.filter { $0.hasPrefix("begin") }
            #expect(begun == ["begin 1", "begin 2", "begin 1"])
        }
    }

    @Test(arguments: StreamSwapTests.Kind.allCases)
    func `a stream that passes on another goes on when the providers of both are swapped together`(
        kind: StreamSwapTests.Kind
    ) async throws {
        try await FeedHost.with(isGated: kind.isGated, lanes: kind.lanes) { feeds in
            var reader = Reader(try await feeds.host.manager("Relay"))
            for edition in 2...40 {
                try await reader.read()
                feeds.record.next(FeedScript(edition))
                try await feeds.swap([FeedHost.edition(edition), FeedHost.readerEdition(edition)])
            }
            try await reader.read()
        }
    }

    @Test(arguments: [false, true])
    func `a stream that was opened by name goes on`(isGated: Bool) async throws {
        try await FeedHost.with(isGated: isGated, lanes: .fastest) { feeds in
            func stream(_ method: String, _ input: String) async throws -> NamedElements.Iterator {
                try await feeds.host.stream("Feed", method, Array(input.utf8), feeds.host.begin()).makeAsyncIterator()
            }
            var counted = try await stream("counted", #"{"first": 5}"#), numbers = try await stream("numbers", "0")
            var expected = 5
            for edition in 2...5 {
                for _ in 0..<3 {
                    let number = try await counted.next().map { String(decoding: $0, as: UTF8.self) }
                    #expect(number == "\(expected)")
                    expected += 1
                }
                try await feeds.swap(FeedScript(edition))
            }
            let number = try await counted.next().map { String(decoding: $0, as: UTF8.self) }
            #expect(number == "\(expected)")
            let ended = await error { while try await numbers.next() != nil {} }
            #expect(ended?.code == .streamInterrupted, "its input does not say where to continue")
        }
    }

    @Test(arguments: [false, true])
    func `what has arrived before a swap is delivered before the stream is opened again`(isGated: Bool) async throws {
        let firsts = Mutex<[Int]>([]), isAlone = (0..<2).map { _ in TestGate() }, sent = TestGate()
        sent.open()
        var script = FeedScript(1)
        script.counted = { first, elements in
            // The first two requests are for smaller batches than the third, which takes all 64.
            for number in 0..<2 {
                try await elements.send(number)
                await isAlone[number].passThoughCancelled()
            }
            for number in 2..<66 { try await elements.send(number) }
            await sent.passThoughCancelled()
            try await Task.sleep(for: .seconds(36_000))
        }
        var second = FeedScript(2)
        second.counted = { first, elements in
            firsts.withLock { $0.append(first) }
            for number in first... { try await elements.send(number) }
        }
        try await FeedHost.with(script, isGated: isGated, lanes: .encoded) { feeds in
            var reader = Reader(feeds.feed)
            for latch in isAlone {
                try await reader.read(1)
                latch.open()
            }
            try await sent.arrivals()
            try await reader.read(1)
            try await feeds.swap(second)
            try await reader.read(63)
            let early = firsts.withLock { $0 }
            #expect(early == [])
            try await reader.read(1)
            let opened = firsts.withLock { $0 }
            #expect(opened == [66])
        }
    }
}

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
        try await host.swap(linked: plugins, options)
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

extension PluginHost {
    /// Activates other editions of plugins that are linked into this program.
    @discardableResult
    func swap(
        linked: [LinkedPlugin], applying document: ManifestDocument? = nil, _ options: ChangeOptions = .patient,
        progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        let coordinator = coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: linked, applying: document, options, progress: report)
        }
    }
}
