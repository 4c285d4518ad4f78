import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation

/// The stores of the suite, each created when a row first needs it.
actor StoreFixtures {
    private let folder: String
    private var stores: [String: SQLiteRecordStore] = [:]
    private var bare: [String: BareStore] = [:]
    private var large: [Int: String] = [:]

    init(folder: String) { self.folder = folder }

    /// Returns a store with numbered books, initially `count` of them.
    func store(_ name: String, of count: Int = 0) async throws -> SQLiteRecordStore {
        let name = "\(name)-\(count)"
        if let store = stores[name] { return store }
        let store = try await make(name, count)
        stores[name] = store
        return store
    }

    /// Returns the baseline of the store of the same name and size.
    ///
    /// For reading it is the same file; for writing, `name` is the name of another one.
    func bare(_ name: String, of count: Int = 0) async throws -> BareStore {
        let key = "\(name)-\(count)"
        if let store = bare[key] { return store }
        _ = try await self.store(name, of: count)
        let store = try BareStore(folder: path(key))
        bare[key] = store
        return store
    }

    /// Closes the stores, whose files are removed with their folder.
    func close() { (stores, bare) = ([:], [:]) }

    nonisolated func path(_ name: String) -> String { folder + "/" + name }

    private func make(_ name: String, _ count: Int) async throws -> SQLiteRecordStore {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        if count > 0 {
            // Waiting for the disk would only make it later.
            let store = try Self.open(path(name), .normal)
            for start in stride(from: 0, to: count, by: 1_000) {
                try await store.save((start..<min(start + 1_000, count)).map { BenchBook($0) })
            }
        }
        let store = try Self.open(path(name), .full)
        try await store.define(BenchBook.definition, in: BenchBook.namespace)
        return store
    }

    static func open(_ folder: String, _ durability: StoreDurability = .full) throws -> SQLiteRecordStore {
        try SQLiteRecordStore(folder: folder, durability: durability, damaged: .refuse) { _ in }
    }

    /// Returns the folder of a closed store of this size, with records of 64 KiB.
    func large(megabytes: Int) async throws -> String {
        if let folder = large[megabytes] { return folder }
        let folder = path("large-\(megabytes)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let store = try Self.open(folder, .normal), value = [UInt8](repeating: UInt8(ascii: "7"), count: 64 << 10)
        for part in 0..<megabytes {
            try await store.write(
                (0..<16).map {
                    .save(collection: "large", StoredRecord(id: "\(part)-\($0)", value: value))
                }, in: BenchBook.namespace)
        }
        large[megabytes] = folder
        return folder
    }
}

extension RecordStore {
    /// Encodes books as the SDK does, and stores them together.
    func save(_ books: [BenchBook]) async throws(BackplaneError) {
        var changes: [RecordChange] = []
        changes.reserveCapacity(books.count)
        for book in books {
            let record = StoredRecord(id: book.id, value: try StoredForm.encode(book))
            changes.append(.save(collection: BenchBook.collection, record))
        }
        try await write(changes, in: BenchBook.namespace)
    }

    /// Returns a book, decoded as the SDK does.
    func book(_ id: String) async throws(BackplaneError) -> BenchBook? {
        let page = try await read(RecordQuery(collection: BenchBook.collection, ids: [id]), in: BenchBook.namespace)
        guard let record = page.records.first else { return nil }
        return try StoredForm.decode(BenchBook.self, record)
    }
}
