import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Glibc
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The exchanges of a component while they are being ended.
@Suite(.timeLimit(.minutes(5)))
struct ExchangesTests {
    /// The end of an exchange, which is kept before something is done.
    private final class KeptEnd: Sendable {
        private let error = Mutex<BackplaneError?>(nil)
        private let then: @Sendable () -> Void

        init(_ then: @escaping @Sendable () -> Void = {}) { self.then = then }

        var code: BackplaneError.Code? { error.withLock { $0?.code } }

        var client: ExchangeClient {
            ExchangeClient { [self] result in
                if case .failure(let failure) = result { error.withLock { $0 = failure } }
                then()
            }
        }
    }

    private let clock = TestClock()

    private func exchanges() -> Exchanges {
        let network = HostNetwork(
            HostNetwork.Means(
                [
                    MemoryExecutor { _, _ in
                        try await TestGate().pass()
                        return HTTPStreamedResponse(HTTPResponse(status: 200))
                    }
                ], clock), ManifestDocument(Manifest(managers: [:])))
        return Exchanges(
            network, of: "Books", managers: [], folder: "", clock: clock, idleLimit: .seconds(60), ExchangeCounts(),
            TestLog())
    }

    private func begin(_ exchanges: Exchanges, _ end: KeptEnd) {
        _ = exchanges.begin(HTTPRequest("GET", "http://books.test/"), .whole(upTo: 100), Call(), end.client, ended: {})
    }

    @Test(arguments: [true, false])
    func `an exchange that begins while the others are being ended is refused`(forGood: Bool) {
        let exchanges = exchanges(), late = KeptEnd()
        let first = KeptEnd { [self] in begin(exchanges, late) }
        begin(exchanges, first)
        exchanges.retireAll(forGood: forGood)
        #expect(first.code == .callRetired)
        #expect(late.code == .callRetired)
        let later = KeptEnd()
        begin(exchanges, later)
        #expect(later.code == (forGood ? .callRetired : nil), "one that was only suspended goes on")
        let counts = exchanges.counts.statistics
        #expect(counts.begun == 3 && counts.inFlight == (forGood ? 0 : 1))
        exchanges.retireAll(forGood: true)
        #expect(later.code == .callRetired)
    }
}

/// The cache on the disk of a host: opened at its first use, and gone without if it cannot be opened.
@Suite(.timeLimit(.minutes(2)))
struct HostCachesTests {
    /// A cache that stores nothing.
    private struct EmptyCache: CacheProvider {
        func load(_ key: String) async throws -> CachedResponse? { nil }
        func store(_ response: CachedResponse, for key: String) async throws {}
        func removeExpired(_ rule: CacheExpiry) async throws -> Int { 0 }
    }
    private let clock = TestClock(), log = TestLog(), limits = Recording<Int>()

    private func cache(
        _ settings: CacheSettings = CacheSettings(), _ open: @escaping @Sendable () throws -> any CacheProvider
    ) -> ResponseCache {
        let caches = HostCaches(NetworkManagers(), by: clock, log) { [limits] _, limit, _ in
            limits.add(limit)
            return try open()
        } folder: {
            ""
        } hasFolder: { [limits] in
            !limits.all.isEmpty
        }
        return caches.cache(with: settings)
    }

    private func load(_ policy: CachePolicy, _ cache: ResponseCache) async throws {
        let executor = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) }
        var endpoint = Endpoint<Nothing>("GET", "list")
        endpoint.options.cache = policy
        let http = HTTPClient(HTTPPipeline([executor], cache: cache)).relative(to: "http://books.test")
        _ = try await http.load(endpoint)
    }

    @Test func `it is opened once, by the first policy that uses the disk`() async throws {
        let cache = cache(CacheSettings(disk: 7)) { EmptyCache() }
        try await load(.memory(for: .seconds(60)), cache)
        #expect(try await cache.flush(.all) == 1)
        #expect(limits.all.isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await load(.disk(for: .seconds(60)), cache) } }
            try await group.waitForAll()
        }
        #expect(limits.all == [7] && log.records.isEmpty)
    }

    @Test func `one that cannot be opened is logged once, and tried again after a minute`() async throws {
        let cache = cache { throw BackplaneError(.networkCache, "the folder is read-only") }
        for _ in 0..<3 { try await load(.disk(for: .seconds(60)), cache) }
        #expect(limits.all.count == 1)
        #expect(log.records.map(\.metadata["cache"]) == ["disk"])
        clock.advance(by: .seconds(60))
        for _ in 0..<3 {
            let error = await error { try await cache.flush(.all) }
            #expect(error?.code == .networkCache)
        }
        #expect(limits.all.count == 2 && log.records.count == 1)
    }

    @Test func `a limit of zero opens none, and its responses are in memory`() async throws {
        let cache = cache(CacheSettings(disk: 0)) { EmptyCache() }
        try await load(.disk(for: .seconds(60)), cache)
        try await load(.disk(for: .seconds(60)), cache)
        #expect(limits.all.isEmpty)
        let statistics = try await cache.statistics()
        #expect(statistics.map(\.place) == ["memory"] && statistics[0].hits == 1 && statistics[0].misses == 1)
    }
}

/// The pieces of a body between a sender and a reader.
@Suite(.timeLimit(.minutes(1)))
struct PieceChannelTests {
    private var machine = PieceMachine<String>()

    /// The answer to a read in words.
    private func words(_ answered: PieceMachine<String>.Answered?) -> String? {
        guard let (reader, piece) = answered else { return nil }
        switch piece {
        case .success(let bytes?): return "\(reader): \(bytes)"
        case .success(nil): return "\(reader): end"
        case .failure(let error): return "\(reader): \((error as? BackplaneError)?.message ?? "\(error)")"
        }
    }

    @Test mutating func `a piece is read in parts, before the next one`() throws {
        #expect(words(try machine.send([1, 2, 3])) == nil)
        #expect(throws: BackplaneError.self) { try machine.send([4]) }
        #expect(words(try machine.read(upTo: 2, "first")) == "first: [1, 2]")
        #expect(throws: BackplaneError.self) { try machine.send(nil) }
        #expect(words(try machine.read(upTo: 2, "last")) == "last: [3]")
    }

    @Test mutating func `a read waits for a piece, one at a time`() throws {
        #expect(words(try machine.read(upTo: 9, "reader")) == nil && machine.isBeingRead)
        #expect(throws: BackplaneError.self) { try machine.read(upTo: 9, "second") }
        #expect(words(try machine.send([1])) == "reader: [1]")
        #expect(!machine.isBeingRead)
    }

    @Test mutating func `the end is told to every read, and does not wait to be read`() throws {
        #expect(words(try machine.send(nil)) == nil)
        for _ in 0..<2 { #expect(words(try machine.read(upTo: 1, "reader")) == "reader: end") }
        #expect(throws: BackplaneError.bodyEnded) { try machine.send([1]) }
        #expect(words(machine.fail(CancellationError())) == nil, "it has ended already")
    }

    @Test mutating func `an error answers the read, and drops what was not read`() throws {
        let error = BackplaneError(.networkFailed, "gone")
        _ = try machine.send([1])
        #expect(words(machine.fail(error)) == nil)
        #expect(words(try machine.read(upTo: 1, "reader")) == "reader: gone")
        machine = PieceMachine()
        _ = try machine.read(upTo: 1, "reader")
        #expect(words(machine.fail(error)) == "reader: gone")
    }

    @Test func `a channel pulls chunks of a stream when it is read, and not before`() async throws {
        let channel = PieceChannel(HTTPBodyStream([1, 2, 3]))
        #expect(!channel.isBeingRead && !channel.hasEnded)
        #expect(try await channel.next() == [1, 2, 3])
        #expect(try await channel.next() == nil)
        #expect(channel.hasEnded && channel.failure == nil)
    }

    @Test func `the cancellation of a reader's task ends the body`() async {
        let channel = PieceChannel(), reader = Task { try await channel.next() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(channel.failure is CancellationError)
    }
}

/// Files that pass from a component that uses the network to one that stores.
@Suite(.timeLimit(.minutes(5)))
struct NetworkFolderTests {
    private func host(_ lanes: LaneRule) throws -> TestHost {
        try TestHost(
            """
            {"manifestVersion": 1, "managers": {"Attic": {
                "className": "ShelfManager", "dataAccessController": {"className": "ShelfStore"},
                "communicationController": {"className": "ShelfCommunication"}}}}
            """, linked: [LinkedPlugin(ShelfPlugin.self)], lanes: lanes
        ) { options in
            options.executors = [
                MemoryExecutor { request, _ in
                    HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("from \(request.url)".utf8)))
                }
            ]
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a file that was downloaded is adopted by a data access controller`(lanes: LaneRule) async throws {
        let test = try host(lanes)
        let shelf: Remote<Shelf> = try await test.host.manager("Attic")
        let path = try await shelf.keep("http://books.test/whale")
        #expect(path.hasSuffix("/ShelfStore/kept"))
        #expect(try FileTree.names(in: FilePath.folder(of: path)) == ["kept"])
        #expect(try FileStatus(at: path).size == "from http://books.test/whale".utf8.count)
        let folder = try await shelf.folder(Nothing())
        #expect(try FileTree.names(in: folder) == [], "it was moved")
        for (name, reason) in [
            ("gone", "No such file"), ("../kept", "not a path in the component's folder"),
            ("folder", "not a regular file"),
        ] {
            let refused = await error { try await shelf.hand(name) }
            #expect(refused?.code == .componentFailed || refused?.code == .fileRefused)
            #expect("\(String(describing: refused))".contains(reason), "\(String(describing: refused))")
        }
        await test.host.stop()
    }
}

private struct Shelf: Contract {
    static let version: Version = "1.0.0"
    let folder = AsyncMethod<Nothing, String>()
    /// Downloads a URL, and keeps the file.
    let keep = AsyncMethod<String, String>()
    /// Hands a file of the communication controller over.
    let hand = AsyncMethod<String, String>()
}

private struct ShelfNetwork: Contract {
    static let version: Version = "1.0.0"
    let folder = AsyncMethod<Nothing, String>()
    let fetch = AsyncMethod<String, StoredFile>()
    let hand = AsyncMethod<String, StoredFile>()
}

private struct ShelfFiles: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<StoredFile, String>()
}

private struct ShelfPlugin: Plugin {
    static let id = "org.backplane.tests.shelf"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ShelfManager.self)
        registrar.add(ShelfCommunication.self)
        registrar.add(ShelfStore.self)
    }
}

private final class ShelfManager: Manager {
    typealias Provides = Shelf
    static let className = "ShelfManager"
    struct Wires: Wiring {
        let communicationController: Wire<ShelfNetwork>
        let dataAccessController: Wire<ShelfFiles>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.folder) { shelf, _, call in
            try await shelf.wires.communicationController.folder(Nothing(), call)
        }
        table.async(\.keep) { shelf, url, call in
            let file = try await shelf.wires.communicationController.fetch(url, call)
            return try await shelf.wires.dataAccessController.keep(file, call)
        }
        table.async(\.hand) { shelf, name, call in
            let file = try await shelf.wires.communicationController.hand(name, call)
            return try await shelf.wires.dataAccessController.keep(file, call)
        }
    }
}

private final class ShelfCommunication: CommunicationController {
    typealias Provides = ShelfNetwork
    static let className = "ShelfCommunication"
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.folder) { shelf, _, _ in shelf.context.folder }
        table.async(\.fetch) { shelf, url, call in
            try await shelf.context.http.download(HTTPRequest("GET", url), to: "parcel", call)
            return try shelf.context.stored("parcel")
        }
        table.async(\.hand) { shelf, name, _ in
            mkdir(shelf.context.folder + "/folder", 0o700)
            return try shelf.context.stored(name)
        }
    }
}

private final class ShelfStore: DataAccessController {
    typealias Provides = ShelfFiles
    static let className = "ShelfStore"
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, file, _ in try store.context.adopt(file, as: "kept") }
    }
}
