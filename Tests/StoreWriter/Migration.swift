import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Synchronization

/// A component whose records have another form than those in the store, which it migrates.
enum Migration {
    /// The records' form in the store.
    struct FirstBook: Record {
        static let collection = "books"
        var id: String
        var author: String
    }
    /// The form of the component.
    struct Book: Record {
        static let collection = "books"
        static let schema = 2
        var id: String
        var authors: [String]
        /// The number of times that the record was migrated.
        var migrations: Int
        struct Indexes: RecordIndexes { let authors = Indexed<Int>("migrations") }

        static func migrated(from old: OldRecord) throws -> Book {
            struct Marked: Decodable { var migrations: Int? }
            let times = try old.decode(Marked.self).migrations ?? 0
            return Book(id: old.id, authors: [try old.decode(FirstBook.self).author], migrations: times + 1)
        }
    }

    /// Uses the collection of a store, which migrates it.
    static func run(_ store: any RecordStore, in folder: String) async throws {
        let manifest = Manifest(managers: [
            "Shelf": ManagerDefinition(
                className: "ShelfManager",
                dataAccessController: ComponentDefinition(className: "ShelfStore", namespace: "A"))
        ])
        let host = PluginHost(
            manifest: manifest, plugins: [ShelfPlugin.self],
            options: HostOptions(dataFolder: folder, openStore: { _, _, _ in PrintingStore(store) }))
        let shelf: Remote<Shelf> = try await host.manager("Shelf")
        _ = try await shelf.count()
        await host.stop()
    }
}

/// A store that prints a line for each batch that was acknowledged.
private final class PrintingStore: RecordStore {
    private let store: any RecordStore

    init(_ store: any RecordStore) { self.store = store }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        let numbers = try await store.write(batch, in: namespace)
        StoreWriter.say("\(batch.changes.count)\n")
        return numbers
    }
    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await store.define(collection, in: namespace)
    }
    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await store.read(query, in: namespace)
    }
    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await store.count(query, in: namespace)
    }
    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await store.changes(of: collection, since: number, limit: limit, in: namespace)
    }
    func namespaces() async throws(BackplaneError) -> [String] { try await store.namespaces() }
    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await store.collections(in: namespace)
    }
}

private struct Shelf: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<Nothing, Int>()
}

private struct ShelfPlugin: Plugin {
    static let id = "org.backplane.tests.shelf"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ShelfManager.self)
        registrar.add(ShelfStore.self)
    }
}

private final class ShelfManager: Manager {
    typealias Provides = Shelf
    struct Wires: Wiring {
        let dataAccessController: Wire<Shelf>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { manager, _, call in
            try await manager.context.wires.dataAccessController.count(call)
        }
    }
}

private final class ShelfStore: DataAccessController {
    typealias Provides = Shelf
    private let books: RecordCollection<Migration.Book>

    init(_ context: Context) { books = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { store, _, _ in try await store.books.count() }
    }
}
