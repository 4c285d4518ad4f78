import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// A data access controller that lends its context to the tests.
private final class NoteStore: DataAccessController {
    static let className = "NoteStore"
    private static let lent = Mutex<[String: Context]>([:])
    struct Configuration: Decodable, Sendable {
        var key: String
    }

    init(_ context: Context) { Self.lent.withLock { $0[context.configuration.key] = context } }

    /// The store of the one with a key.
    static func store(_ key: String) throws -> Store { try #require(lent.withLock { $0[key] }).store }
}

private final class NoteManager: Manager {
    static let className = "NoteManager"

    init(_ context: Context) {}
}

private struct NotePlugin: Plugin {
    static let id = "org.backplane.tests.notes"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(NoteManager.self)
        registrar.add(NoteStore.self)
    }

    /// A manager whose data access controller is found by a key.
    static func manager(_ key: String, namespace: String? = nil, isLazy: Bool = false) -> ManagerDefinition {
        var manager = ManagerDefinition(
            className: "NoteManager",
            dataAccessController: ComponentDefinition(
                className: "NoteStore", configuration: ["key": .string(key)], namespace: namespace))
        manager.activation = isLazy ? .lazy : .eager
        return manager
    }
}

struct Note: Record, Hashable {
    var id: String
    var text: String
}

/// The record store as a data access controller uses it, through the boundary.
@Suite(.timeLimit(.minutes(5)))
struct StoreTests {
    private func withStores(log: any LogSink = SilentLog(), _ body: (Store, Store) async throws -> Void) async throws {
        let folder = try TestFolder(), keys = (UUID().uuidString, UUID().uuidString)
        let host = PluginHost(
            manifest: Manifest(
                plugins: [],
                managers: [
                    "First": NotePlugin.manager(keys.0, namespace: "first"),
                    "Second": NotePlugin.manager(keys.1, namespace: "second"),
                ]),
            plugins: [NotePlugin.self],
            options: HostOptions(dataFolder: folder.path, log: log, openStore: { _, _, _ in MemoryRecordStore() }))
        try await host.start()
        try await body(NoteStore.store(keys.0), NoteStore.store(keys.1))
        await host.stop()
    }

    private let notes = [
        Note(id: "b", text: "second"), Note(id: "a", text: "first"), Note(id: "c", text: "third \u{1F40B}"),
    ]

    @Test func `two data access controllers do not see each other's records`() async throws {
        try await withStores { first, second in
            let (own, other) = (first.collection(Note.self), second.collection(Note.self))
            try await own.save(notes)
            #expect(try await other.all() == [])
            try await other.deleteAll()
            #expect(try await own.count() == 3)
        }
    }

    @Test func `a write is logged with the trace of the call that it is made for`() async throws {
        let log = TestLog()
        try await withStores(log: log) { store, _ in
            let call = Call(within: .seconds(600)), id = try #require(call.trace?.id)
            try await store.during(call).transaction { try await $0.collection(Note.self).save(notes) }
            try await store.collection(Note.self).save(notes)
            _ = await error {
                try await store.during(call).transaction {
                    try await $0.collection(Note.self).save(Note(id: "", text: ""))
                }
            }
            let lines = log.records.filter { $0.message.hasPrefix("records ") }
            #expect(lines.map(\.message) == ["records written", "records written", "records not written"])
            #expect(lines.map { $0.metadata["trace"] } == [id, nil, id], "only what is made for a call has its trace")
            #expect(lines[0].metadata["component"] == "NoteStore" && lines[0].metadata["changes"] == "3")
            #expect(lines[0].metadata["collections"] == "Note" && lines[2].metadata["error"] == "call.invalid-input")
        }
    }
}

/// When a host opens its store, how, and what it says when it cannot.
@Suite(.timeLimit(.minutes(5)))
struct StoreOpeningTests {
    private let folder: TestFolder
    private let log = TestLog()
    private let key = UUID().uuidString
    /// The treatments of damage that the store was to be opened with.
    private let openings = Recording<DamagedStorePolicy>()

    init() throws { folder = try TestFolder() }

    private func manifest(_ damaged: DamagedStorePolicy, isLazy: Bool = false) -> Manifest {
        Manifest(
            plugins: [], managers: ["Notes": NotePlugin.manager(key, isLazy: isLazy)],
            store: StoreSettings(damaged: damaged))
    }

    private func host(_ manifest: Manifest, program: DamagedStorePolicy? = nil, failing error: BackplaneError? = nil)
        -> PluginHost
    {
        var options = HostOptions(
            dataFolder: folder.path, log: log,
            openStore: { [openings] _, settings, _ in
                openings.add(settings.damaged)
                if let error { throw error }
                return MemoryRecordStore()
            })
        options.damagedStore = program
        return PluginHost(manifest: manifest, plugins: [NotePlugin.self], options: options)
    }

    private func expectStore(of host: PluginHost, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await host.start()
        #expect(try await NoteStore.store(key).collection(Note.self).count() == 0, sourceLocation: sourceLocation)
    }

    @Test func `the manifest says what becomes of a damaged store, unless the program does`() async throws {
        for (program, expected) in [(nil, DamagedStorePolicy.refuse), (.moveAside, .moveAside)]
            as [(DamagedStorePolicy?, DamagedStorePolicy)]
        {
            let host = host(manifest(.refuse), program: program)
            try await expectStore(of: host)
            await host.stop()
            #expect(openings.all.last == expected)
        }
        #expect(openings.all.count == 2, "each host opens its store once")
    }

    @Test func `the store is open when the start is over, and one without data access controllers has none`()
        async throws
    {
        let host = host(manifest(.moveAside))
        try await host.start()
        #expect(openings.all == [.moveAside])
        await host.stop()
        let other = self.host(Manifest(plugins: [], managers: [:]))
        try await other.start()
        await other.stop()
        #expect(openings.all.count == 1)
    }

    @Test func `a store that cannot be used is in the log when the start is over, and an error of every call`()
        async throws
    {
        let problem = BackplaneError(.storeUnusable, "the file system of /data is read-only")
        let host = host(manifest(.moveAside), failing: problem)
        try await host.start()
        let lines = log.records.filter { $0.level == .error }
        #expect(lines.count == 1 && lines.first?.metadata["error"] == problem.description, "\(lines)")
        let notes = try NoteStore.store(key).collection(Note.self)
        #expect(await error { try await notes.all() } == problem)
        #expect(await error { try await notes.all() } == problem)
        #expect(openings.all.count == 3, "each call tries again")
        #expect(log.records.filter { $0.level == .error }.count == 1)
        await host.stop()
    }

    @Test func `a closed store is not opened again, and one that is still being opened is closed`() async throws {
        let mayOpen = DispatchSemaphore(value: 0)
        let store = HostStore(StoreSettings()) { [openings] settings in
            openings.add(settings.damaged)
            mayOpen.wait()
            return MemoryRecordStore()
        }
        let request = Task { try await store.namespaces() }
        _ = try await openings.first(1)
        store.close()
        mayOpen.signal()
        #expect(await error { try await request.value }?.code == .hostStopped)
        #expect(!store.isOpen)
        #expect(await error { try await store.namespaces() }?.code == .hostStopped)
        #expect(openings.all.count == 1)
    }

    @Test func `a change of the store's settings is refused by name once it is open, and nothing has changed`()
        async throws
    {
        let host = host(manifest(.moveAside))
        try await expectStore(of: host)
        let refusal = await error { try await host.apply(manifest(.refuse)) }
        #expect(refusal?.code == .manifestNeedsRestart)
        #expect(refusal?.message.contains("`/store/damaged`") == true, "\(String(describing: refusal))")
        try await expectStore(of: host)
        #expect(try await host.apply(manifest(.moveAside)).managers.restarted.isEmpty)
        await host.stop()
    }
}

/// The indexes of a collection while several instances declare it, as in a swap.
@Suite(.timeLimit(.minutes(5)))
struct DeclaredCollectionsTests {
    /// The definitions that were applied, each as its collection and the names of its indexes.
    private final class Applied: Sendable {
        let all = Mutex<[String]>([])
        func add(_ definition: CollectionDefinition) {
            all.withLock {
                $0.append(
                    ([definition.name] + definition.indexes.map { $0.name + ($0.isUnique ? "!" : "") })
                        .joined(separator: " "))
            }
        }
    }
    private let declared = DeclaredCollections(), applied = Applied()

    private func define(
        _ owner: UInt64, _ indexes: IndexDefinition..., of name: String = "books", in namespace: String = "A"
    )
        async throws
    {
        try await declared.define(CollectionDefinition(name, indexes: indexes), in: namespace, by: owner) {
            applied.add($0)
        }
    }

    private func end(_ owner: UInt64) async {
        declared.end(owner) { definition, _ in self.applied.add(definition) }
        // Changes are made one after the other, so that this one is the last.
        try? await declared.define(CollectionDefinition("last"), in: "B", by: 99) { _ in }
    }

    @Test func `a collection has the indexes of all its instances, and the latest declaration counts`() async throws {
        try await define(1, IndexDefinition("title"), IndexDefinition("isbn"))
        try await define(2, IndexDefinition("isbn", isUnique: true), IndexDefinition("author"))
        #expect(applied.all.withLock { $0 } == ["books title isbn", "books isbn! author title"])
        await end(1)
        #expect(applied.all.withLock { $0 }.last == "books isbn! author", "the new instance is alone")
    }

    @Test func `a new instance that does not come to serve leaves the indexes of the old one`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(2, IndexDefinition("author"))
        await end(2)
        #expect(applied.all.withLock { $0 }.last == "books title")
    }

    @Test func `what no instance declares keeps its indexes, and other namespaces are others`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(2, IndexDefinition("author"), in: "B")
        try await define(3, IndexDefinition("reader"), of: "loans")
        await end(1)
        #expect(applied.all.withLock { $0 } == ["books title", "books author", "loans reader"])
    }

    @Test func `an instance that declares a collection again replaces its declaration`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(1, IndexDefinition("author"))
        #expect(applied.all.withLock { $0 } == ["books title", "books author"])
    }

    @Test func `an error reaches the instance whose declaration it is, and nobody else`() async throws {
        let failure = BackplaneError(.storeUnusable, "no")
        let error = await error {
            try await declared.define(CollectionDefinition("books"), in: "A", by: 1) { _ throws(BackplaneError) in
                throw failure
            }
        }
        #expect(error == failure)
        try await define(2, IndexDefinition("title"))
        #expect(applied.all.withLock { $0 } == ["books title"])
    }
}
