import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import BooksAPIv1
import Bookshelf
import BookshelfContracts
import Foundation
import FoundationEssentials
import Synchronization
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TestHostTests {
    private static let fakes: [Fake.Place: Fake] = [
        .communicationController: Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in text } },
        .dataAccessController: Fake(Ledger.self) { $0.async(\.keep) { _, _ in 1 } },
    ]

    @Test func `one manager is tested by its class name, with nothing but fakes around it`() async throws {
        let answer = try await TestHost.run(
            "Librarian", configuration: ["greeting": "Hey "], plugins: [LendingPlugin.self], fakes: Self.fakes
        ) { host in
            try await host.manager("Librarian", as: Lending.self).lend("whale", host.begin(within: .seconds(60)))
        }
        #expect(answer == "Hey whale 1")
    }

    @Test func `what the components write is collected under their names`() async throws {
        try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
            _ = try await host.manager(.librarian)
            #expect(host.log.messages(from: "Librarian") == ["created"])
            #expect(try await host.log.record("created").level == .info)
            #expect(host.log.messages(from: "host").contains("started"))
        }
    }

    @Test func `folders are private and gone when the test is through`() async throws {
        let folder = try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
            _ = try await host.manager(.librarian)
            let mode = try FileManager.default.attributesOfItem(atPath: host.folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            return host.folder
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a test that throws is stopped and cleared away as well, and its error arrives`() async throws {
        struct TestFailure: Error {}
        let seen = Mutex<TestHost?>(nil)
        await #expect(throws: TestFailure.self) {
            try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
                _ = try await host.manager(.librarian)
                seen.withLock { $0 = host }
                throw TestFailure()
            }
        }
        let host = try #require(seen.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: host.folder))
        let error = await #expect(throws: BackplaneError.self) { try await host.manager(.librarian) }
        #expect(error?.code == .hostStopped)
    }

    @Test func `everything wrong with a manifest is one error, and nothing starts`() async throws {
        var manifest = Manifest.lending
        manifest.managers["Librarian"]?.dataAccessController?.className = "LoanStorr"
        manifest.managers["Other"] = ManagerDefinition(className: "Nobody")
        let started = Mutex(false)
        let error = await #expect(throws: ManifestRefused.self) {
            try await TestHost.run(manifest, plugins: [LendingPlugin.self]) { _ in started.withLock { $0 = true } }
        }
        #expect(!started.withLock { $0 })
        #expect(
            error?.description == """
                there are 2 problems with the manifest
                  /managers/Librarian/dataAccessController/className: component.unknown-class: no plugin registers a class `LoanStorr`; did you mean `LoanStore`?
                  /managers/Other/className: component.unknown-class: no plugin registers a class `Nobody`; registered as a manager: `ClockReader`, `Librarian`, `ReadingClock`
                """)
    }

    @Test func `errors that follow from others are counted`() async throws {
        var manifest = Manifest.lending
        manifest.plugins = [PluginReference(library: "Tides")]
        for name in ["Tides", "Streams"] { manifest.managers[name] = ManagerDefinition(className: "Table of \(name)") }
        let error = await #expect(throws: ManifestRefused.self) {
            try await TestHost.run(manifest, plugins: [LendingPlugin.self], pluginPaths: ["/nowhere"]) { _ in }
        }
        #expect(error?.problems.map(\.error.code) == [.pluginNotFound] && error?.consequences == 2)
        #expect(error?.description.hasSuffix("\n  2 more errors may follow from it") == true, "\(error as Any)")
    }

    @Test func `real layers down to HTTP and the store, from the manifest's own file`() async throws {
        let manifest = try Manifest(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../manifests/bookshelf-v1.json").standardized
                .path)
        try await TestHost.run(manifest, plugins: [BookshelfPlugin.self, BooksAPIv1Plugin.self]) { host in
            let found =
                #"[{"id": "moby-dick", "title": "Moby-Dick", "author": "Herman Melville", "year": 1851, "language": "en"}]"#
            host.http.on("GET", "http://127.0.0.1:8484/v1/search?q=whale", .json(text: found), .noConnection)
            let library = try await host.manager("LibraryManager", as: Library.self)
            let first = try await library.search(BookQuery(text: "whale")),
                second = try await library.search(BookQuery(text: "the whale"))
            #expect(first.source == .network && first.value.map(\.title) == ["Moby-Dick"])
            #expect(second.value == first.value && second.source != .network)
            #expect(await host.store.ids(of: "searches", in: "BookStore") == ["whale"])
        }
    }

    @Test func `libraries are loaded where the test says where they are`() async throws {
        var manifest = try Manifest(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../manifests/bookshelf-v1.json").standardized
                .path)
        manifest.managers["LibraryManager"]?.communicationController?.configuration = [:]
        let network = Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
        try await TestHost.run(
            manifest, plugins: [], fakes: [.communicationController: network], pluginPaths: [BuiltProducts.folder]
        ) { host in
            let library = try await host.manager("LibraryManager", as: Library.self)
            #expect(try await library.search(BookQuery(text: "whale")).source == .network)
            #expect(await host.host.managers.map(\.plugin) == ["org.backplane.bookshelf"])
            #expect(await host.host.wires.contains { $0.provider == "Fake.LibraryNetwork" && $0.lane == .native })
        }
    }
}

/// Timers of components under a test's clock.
@Suite(.timeLimit(.minutes(2)))
struct TimerTests {
    @Test func `timers fire while the clock runs, and each body has ended before the next time`() async throws {
        try await TestHost.run("PeriodicManager", plugins: [PeriodicPlugin.self]) { host in
            try await host.host.start()
            try await host.clock.run(for: .seconds(29))
            #expect(host.log.messages(from: "PeriodicManager") == [])
            try await host.clock.run(for: .seconds(61))
            #expect(host.log.messages(from: "PeriodicManager") == ["repeated", "repeated", "once", "repeated"])
            #expect(host.clock.now.offset == .seconds(90))
        }
    }

    @Test func `a retry waits by the test's clock, for the whole bound of its delay`() async throws {
        try await TestHost.run(.lending, plugins: [LendingPlugin.self]) { host in
            host.http.on(
                "GET", "http://lending.test/whale", .status(503), .status(503), .status(200, text: "lent"))
            let librarian = try await host.manager(.librarian)
            async let answer = librarian.lend("whale")
            try await host.clock.expire(.milliseconds(200))
            try await host.clock.expire(.milliseconds(400))
            #expect(try await answer == "200 lent 1 at 12")
            #expect(host.clock.now.offset == .milliseconds(600))
        }
    }

    @Test func `a clock that is only advanced begins what is due`() async throws {
        let clock = TestClock()
        try await TestHost.run("PeriodicManager", plugins: [PeriodicPlugin.self], clock: clock) { host in
            try await host.host.start()
            clock.advance(by: .seconds(65))
            _ = try await host.log.record("once")
            try await clock.run(for: .zero)
            let messages = host.log.messages(from: "PeriodicManager")
            #expect(messages.last == "once" || messages.contains("once"))
            #expect(
                (1...2).contains(messages.count { $0 == "repeated" }), "a time that passes during a body is skipped")
        }
    }
}

private struct PeriodicPlugin: Plugin {
    static let id = "org.example.periodic"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(PeriodicManager.self) }
}

private final class PeriodicManager: Manager {
    struct Configuration: Decodable, Sendable {
        var fails: String?
    }
    struct Failure: Error {}

    init(_ context: Context) throws {
        let fails = context.configuration.fails != nil
        try context.tasks.every(.seconds(30), jitter: .seconds(5), name: "repeat") { [log = context.log] _ in
            if fails { throw Failure() }
            await Task.yield()
            log.info("repeated")
        }
        try context.tasks.after(.seconds(65)) { [log = context.log] _ in log.info("once") }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct WaitingTests {
    @Test func `a clock stands still until it is moved`() {
        let clock = TestClock()
        let before = clock.now
        clock.advance(by: .seconds(90))
        #expect(before.duration(to: clock.now) == .seconds(90))
        #expect(clock.date == Date(timeIntervalSinceReferenceDate: 90))
        clock.advance(by: .seconds(-10))
        #expect(clock.now.offset == .seconds(90), "time does not run backwards")
        #expect(TestClock(startingAt: .distantPast).date == .distantPast)
    }

    @Test func `sleepers wake when their time has come, and no earlier`() async throws {
        let clock = TestClock()
        let woken = Recording<Int>()
        let tasks = [30, 10, 20].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                woken.add(seconds)
            }
        }
        try await clock.sleepers(3)
        clock.advance(by: .seconds(19))
        #expect(try await woken.first(1) == [10])
        try await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await woken.first(2) == [10, 20])
        clock.advance(by: .seconds(100))
        for task in tasks { try await task.value }
        #expect(woken.all == [10, 20, 30])
        #expect(clock.now.offset == .seconds(120))
    }

    @Test func `a sleeper that is cancelled wakes with that`() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func `a timer that repeats is advanced step by step`() async throws {
        let clock = TestClock()
        let ticks = Recording<Duration>()
        let timer = Task {
            while true {
                try await clock.sleep(for: .seconds(10))
                ticks.add(clock.now.offset)
            }
        }
        for _ in 1...3 {
            try await clock.sleepers()
            clock.advance(by: .seconds(10))
        }
        #expect(try await ticks.first(3) == [.seconds(10), .seconds(20), .seconds(30)])
        timer.cancel()
        await #expect(throws: CancellationError.self) { try await timer.value }
    }

    @Test func `a gate holds callers until it opens, and again when it is closed`() async throws {
        let gate = TestGate()
        let through = Recording<Int>()
        let first = Task {
            try await gate.pass()
            through.add(1)
        }
        try await gate.arrivals()
        #expect(through.all.isEmpty)
        gate.open()
        try await first.value
        try await gate.pass()
        gate.close()
        let second = Task {
            try await gate.pass()
            through.add(2)
        }
        try await gate.arrivals(3)
        #expect(through.all == [1])
        gate.open()
        try await second.value
        #expect(through.all == [1, 2])
    }

    @Test func `a waiting task can be cancelled`() async throws {
        let gate = TestGate(), recording = Recording<Int>()
        let waiting = [
            Task { try await gate.pass() }, Task { try await gate.arrivals(9) },
            Task { _ = try await recording.first(1) },
            Task { _ = try await recording.first { $0 > 1 } },
        ]
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    @Test func `a recording waits for a value, or gives the one that is there`() async throws {
        let recording = Recording<Int>()
        async let wanted = recording.first { $0 > 2 }
        for number in 1...4 { recording.add(number) }
        #expect(try await wanted == 3)
        #expect(try await recording.first(where: { $0 == 1 }) == 1)
        #expect(recording.all == [1, 2, 3, 4])
    }
}
