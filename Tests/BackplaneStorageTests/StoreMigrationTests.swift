import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation
import GRDB
import Synchronization
import Testing

/// A record of the first version.
private struct OldRecord {
    var namespace = "library"
    var collection = "books"
    var id: String
    var value: [UInt8]
}

/// Stores of the first version, whose table `record` has neither versions nor indexes, and stores of a version to come.
@Suite(.timeLimit(.minutes(10)))
final class StoreMigrationTests {
    private let folder: String
    private var file: String { folder + "/store.sqlite" }

    init() throws { folder = try StorageFixture.folder() }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Writes a store as the first version of Backplane did, through the same engine and the same statements.
    private func writeOldStore(_ records: [OldRecord]) throws {
        let pool = try DatabasePool(path: file)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('records');
                    CREATE TABLE record (
                        namespace TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (namespace, collection, id)
                    ) WITHOUT ROWID
                    """)
            for record in records {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO record (namespace, collection, id, value) VALUES (?, ?, ?, ?)",
                    arguments: [record.namespace, record.collection, record.id, Data(record.value)])
            }
        }
        try pool.close()
    }

    private func open(_ report: @escaping @Sendable (BackplaneError) -> Void = { Issue.record("\($0)") }) throws
        -> SQLiteRecordStore
    {
        try SQLiteRecordStore(folder: folder, report: report)
    }

    private let records: [OldRecord] = [
        OldRecord(id: "é", value: Array("{}".utf8)), OldRecord(id: "10", value: Array(repeating: 7, count: 100_000)),
        OldRecord(id: "9", value: []), OldRecord(collection: "loans", id: "9", value: [0, 255]),
        OldRecord(namespace: "readers", id: "9", value: Array(#"{"name":"Ada"}"#.utf8)),
    ]

    @Test func `the migration versioned-records keeps every record, and gives it a version`() async throws {
        try writeOldStore(records)
        for _ in 0..<2 {
            let store = try open()
            for record in records {
                let query = RecordQuery(collection: record.collection, ids: [record.id])
                let page = try await store.read(query, in: record.namespace)
                #expect(page.records.map(\.value) == [record.value], "\(record.id)")
                #expect(page.records.allSatisfy { $0.version > 0 })
            }
            #expect(
                try await store.read(RecordQuery(collection: "books"), in: "library").records.map(\.id) == [
                    "10", "9", "é",
                ])
            #expect(try await store.collections(in: "library").map(\.count) == [3, 1])
            #expect(try await store.namespaces() == ["library", "readers"])
            let changes = try await store.changes(of: "books", since: 0, limit: 10, in: "library")
            #expect(changes.hasMissed && changes.changes.isEmpty, "the log begins after the migration")
        }
        let applied = try await DatabaseQueue(path: file).read { db in
            #expect(try !db.tableExists("record"))
            return try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
        }
        #expect(applied == ["records", "versioned-records", "full-text"])
    }

    /// Writes a store as the version before full text did, whose last migration was `versioned-records`.
    private func writeStoreWithoutTexts() async throws {
        do {
            let store = try open()
            let indexes = [IndexDefinition("year"), IndexDefinition("title", isUnique: true)]
            try await store.define(CollectionDefinition("books", indexes: indexes), in: "library")
            try await store.write(
                (0..<100).map { number in
                    let json = #"{"year":\#(number % 10),"title":"Title \#(number)"}"#
                    return .save(collection: "books", StoredRecord(id: "\(number)", value: Array(json.utf8)))
                }, in: "library")
        }
        let queue = try DatabaseQueue(path: file)
        try await queue.write { db in
            try db.execute(
                sql: "ALTER TABLE indexes DROP COLUMN text; DELETE FROM grdb_migrations WHERE identifier = 'full-text'")
        }
        try queue.close()
    }

    @Test func `the migration full-text keeps records and indexes, whose words can then be found`() async throws {
        try await writeStoreWithoutTexts()
        let format = try #require(try StoreFormat(folder: folder))
        #expect(format.pending == ["full-text"])
        let store = try open()
        #expect(try await store.collections(in: "library").map(\.count) == [100])
        let year = RecordQuery(collection: "books", .range(RecordRange(of: "year", equal: [7])))
        #expect(try await store.count(year, in: "library") == 10)
        var definition = try #require(try await store.collections(in: "library").first).definition
        #expect(
            definition.indexes.map(\.name) == ["title", "year"] && definition.indexes.allSatisfy { $0.text == nil })
        let changes = try await store.changes(of: "books", since: 0, limit: 1_000, in: "library")
        #expect(changes.changes.count == 100 && !changes.hasMissed)
        definition.indexes.append(IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(prefixes: [2])))
        try await store.define(definition, in: "library")
        let words = RecordQuery(collection: "books", .search(index: "words", text: "title 42"))
        #expect(try await store.read(words, in: "library").records.map(\.id) == ["42"])
        #expect(try await store.count(year, in: "library") == 10)
        #expect(try await store.findDamage().isEmpty)
    }

    @Test func `a write that a killed process has left is undone at the opening, and named by what only reads`()
        async throws
    {
        try await writeStoreWithoutTexts()
        let left = try StorageFixture.folder()
        defer { try? FileManager.default.removeItem(atPath: left) }
        let queue = try DatabaseQueue(path: file)
        try await queue.writeWithoutTransaction { [file] db in
            // As before a new file switches to WAL mode, with so small a cache that pages are written before the end.
            try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
            try db.execute(sql: "UPDATE records SET value = zeroblob(4000)")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: file + suffix, toPath: "\(left)/store.sqlite\(suffix)")
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        let error = #expect(throws: BackplaneError.self) { try StoreFormat(folder: left) }
        #expect(error?.code == .storeUnusable && error?.message.contains("undoes the unfinished write") == true)
        let store = try SQLiteRecordStore(folder: left) { Issue.record("\($0)") }
        let page = try await store.read(RecordQuery(collection: "books"), in: "library")
        #expect(page.records.count == 100 && page.records.allSatisfy { $0.value.starts(with: Array("{".utf8)) })
        #expect(try StoreFormat(folder: left)?.pending == [])
    }

    @Test func `what is written after the migration has greater versions, and can be indexed`() async throws {
        try writeOldStore(records)
        let store = try open()
        let before = try await store.read(RecordQuery(collection: "books"), in: "readers")
        let numbers = try await store.write(
            [.save(collection: "books", StoredRecord(id: "9", value: Array(#"{"name":"Bob"}"#.utf8)))], in: "readers")
        #expect(try numbers[0] > #require(before.records.first).version && numbers[0] > before.change)
        try await store.define(CollectionDefinition("books", indexes: [IndexDefinition("name")]), in: "readers")
        let range = RecordRange(of: "name", equal: ["Bob"])
        #expect(try await store.count(RecordQuery(collection: "books", .range(range)), in: "readers") == 1)
    }

    @Test func `a damaged store of the first version is salvaged into the present tables`() async throws {
        let many = (0..<2_000).map { OldRecord(id: "\(10_000 + $0)", value: Array("<\(10_000 + $0)>".utf8)) }
        try writeOldStore(many)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        let page = try #require(bytes.firstRange(of: Array("<11000>".utf8))).lowerBound / 4_096 * 4_096
        let old = bytes[page..<page + 4_096]
        bytes.replaceSubrange(page..<page + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        try Data(bytes).write(to: URL(filePath: file))

        let reports = Mutex<[BackplaneError]>([])
        let store = try open { error in reports.withLock { $0.append(error) } }
        let found = try await store.read(RecordQuery(collection: "books"), in: "library").records
        let missing = Set(many.map(\.id)).subtracting(found.map(\.id))
        for record in found { #expect(record.value == Array("<\(record.id)>".utf8)) }
        #expect(!missing.isEmpty)
        for id in missing { #expect(old.firstRange(of: Array(id.utf8)) != nil, "\(id) was not on the page") }
        let report = try #require(reports.withLock { $0 }.first)
        #expect(report.message.contains("lost: at most about"), "\(report)")
    }

    @Test func `a store of a newer version is refused and not touched`() async throws {
        try await open().write([.save(collection: "books", StoredRecord(id: "1", value: []))], in: "A")
        let queue = try DatabaseQueue(path: file)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('records-of-tomorrow')") }
        try queue.close()
        let before = try Data(contentsOf: URL(filePath: file))
        let error = #expect(throws: BackplaneError.self) { try self.open() }
        #expect(error?.code == .storeUnusable)
        #expect(error?.message.contains("`records-of-tomorrow`") == true, "\(String(describing: error))")
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }
}
