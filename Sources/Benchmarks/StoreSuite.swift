import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation
import Synchronization

// The cost of the store, compared with GRDB running similar statements on another file (`BareStore`).
extension BenchSuite {
    static let store = BenchSuite(name: "store") { folder in
        let written = try await BenchStore(in: folder + "/written"), bare = try BareStore(folder: folder + "/bare")
        let read = try await BenchStore(in: folder + "/read"), plain = try BareStore(folder: folder + "/plain")
        for start in stride(from: 0, to: BenchStore.size, by: 1_000) {
            let books = (start..<start + 1_000).map { BenchBook($0) }
            try await read.save(books)
            try await plain.save(books)
        }
        let borrowed = try await BenchStore(in: folder + "/borrowed")
        let plugin = try await LinkedHost(engine: borrowed.engine, in: folder + "/host")
        let books = plugin.store.collection(BenchBook.self)
        return Opened([
            saves("durable save", 1.25, bare, written.save),
            batches("batch of 1,000", 1 / 0.7, bare, written.save),
            batches("batch of 1,000, plugin", 1 / 0.6, bare) { try await books.save($0) },
            .calls(
                "fetch among 100,000", .microseconds, target: .ratio(atMost: 1 / 0.7), beside: "GRDB, a fetch"
            ) {
                try await fetches($0) { try await plain.fetch($0) }
            } _: {
                try await fetches($0) { try await read.book($0) }
            },
            .calls("page of 100 among 100,000, sorted", .microseconds, target: .atMost(5_000), beside: "GRDB, a page") {
                try await pages($0) { try await plain.page(from: $0, limit: 100).count }
            } _: {
                try await pages($0) { try await read.page(from: $0, limit: 100) }
            },
        ]) { await plugin.stop() }
    }

    private typealias Save = @Sendable ([BenchBook]) async throws -> Void

    /// Creates the measurement of a save of one record.
    private static func saves(
        _ name: String, _ bound: Double, _ bare: BareStore, _ save: @escaping Save
    ) -> Measurement {
        let first = NewBooks(), second = NewBooks()
        return .calls(
            name, .microseconds, target: .ratio(atMost: bound), beside: "GRDB, a save",
            { count in
                for book in first.next(count) { try await bare.save([book]) }
                return count
            },
            { count in
                for book in second.next(count) { try await save([book]) }
                return count
            })
    }

    /// Creates the measurement of a batch of 1,000 records.
    private static func batches(
        _ name: String, _ bound: Double, _ bare: BareStore, _ save: @escaping Save
    ) -> Measurement {
        let first = NewBooks(), second = NewBooks()
        return .calls(
            name, .milliseconds, count: 2, target: .ratio(atMost: bound), beside: "GRDB, a batch",
            { count in
                for _ in 0..<count { try await bare.save(first.next(1_000)) }
                return count
            },
            { count in
                for _ in 0..<count { try await save(second.next(1_000)) }
                return count
            })
    }

    /// Fetches books all over the store, and returns how many were found.
    private static func fetches(
        _ count: Int, _ fetch: @Sendable (_ id: String) async throws -> BenchBook?
    ) async throws -> Int {
        var found = 0
        for place in 0..<count {
            let number = place &* 7_919 % BenchStore.size
            if try await fetch(BenchBook.id(number))?.number == number { found += 1 }
        }
        return found
    }

    /// Reads pages all over the store, and returns how many were full.
    private static func pages(
        _ count: Int, _ page: @Sendable (_ number: Int) async throws -> Int
    ) async throws -> Int {
        var full = 0
        for place in 0..<count where try await page(place &* 7_919 % (BenchStore.size - 100)) == 100 { full += 1 }
        return full
    }
}

/// Books that are not in any store yet.
///
/// All measurements of a suite share one sequence of numbers, because some of them write to the same file.
private final class NewBooks: Sendable {
    private static let number = Atomic(1 << 20)

    func next(_ count: Int) -> [BenchBook] {
        let end = Self.number.add(count, ordering: .relaxed).newValue
        return (end - count..<end).map { BenchBook($0) }
    }
}

/// A store in SQLite with books, which are encoded and decoded as in the SDK.
private struct BenchStore: Sendable {
    /// The number of books in the stores that are read.
    static let size = 100_000
    let engine: SQLiteRecordStore

    init(in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        engine = try SQLiteRecordStore(folder: folder, durability: .full) { _ in }
        let definition = CollectionDefinition(BenchBook.collection, indexes: [IndexDefinition("number")])
        try await engine.define(definition, in: BenchBook.namespace)
    }

    @Sendable
    func save(_ books: [BenchBook]) async throws {
        let changes = try books.map { book throws(BackplaneError) in
            RecordChange.save(
                collection: BenchBook.collection, StoredRecord(id: book.id, value: try StoredForm.encode(book)))
        }
        try await engine.write(changes, in: BenchBook.namespace)
    }

    func book(_ id: String) async throws -> BenchBook? {
        let query = RecordQuery(collection: BenchBook.collection, ids: [id])
        return try await engine.read(query, in: BenchBook.namespace).records.first.map {
            try StoredForm.decode(BenchBook.self, $0)
        }
    }

    /// Returns the number of records of a page in the order of the index.
    func page(from number: Int, limit: Int) async throws -> Int {
        let cursor = PageCursor(
            key: IndexKey.bytes(of: [.integer(Int64(number))]), id: Array(BenchBook.id(number).utf8))
        let query = RecordQuery(
            collection: BenchBook.collection, .range(RecordRange(of: "number")), after: cursor, limit: limit)
        return try await engine.read(query, in: BenchBook.namespace).records.count
    }
}

/// A book of 200 bytes in JSON, sorted by its number.
struct BenchBook: Record {
    static let collection = "books"
    static let namespace = "Bench"
    var id: String
    var title: String
    var author: String
    var number: Int

    struct Indexes: RecordIndexes { let number = Indexed<Int>("number") }

    /// Creates the book with a number; its id does not reveal the order.
    init(_ number: Int) {
        id = Self.id(number)
        title = "The \(number)th of many books, each of which has a title of some length"
        author = "Author \(number % 1_000), who has written more than one of these"
        self.number = number
    }

    /// Returns the id of a book, unique for each number below 2³².
    static func id(_ number: Int) -> String { "book-\(UInt32(truncatingIfNeeded: number) &* 2_654_435_761)" }
}
