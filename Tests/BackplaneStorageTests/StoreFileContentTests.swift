import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB
import Synchronization
import Testing

@testable import BackplaneSQLite

/// The database behind the store: its query plans, and records whose bytes changed.
@Suite(.timeLimit(.minutes(10)))
final class StoreFileContentTests {
    private let folder: String
    private var file: String { folder + "/store.sqlite" }

    init() throws { folder = try StorageFixture.folder() }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func open() throws -> SQLiteRecordStore { try SQLiteRecordStore(folder: folder) { Issue.record("\($0)") } }

    private func fill(_ store: SQLiteRecordStore) async throws {
        let indexes = [IndexDefinition("year"), IndexDefinition("title", isUnique: true)]
        try await store.define(CollectionDefinition("books", indexes: indexes), in: "A")
        try await store.write(
            (0..<100).map {
                .save(
                    collection: "books",
                    StoredRecord(id: "\($0)", value: Array(#"{"year":\#($0),"title":"t\#($0)"}"#.utf8)))
            }, in: "A")
    }

    @Test func `no query scans a table or sorts`() async throws {
        try await fill(try open())
        try await DatabaseQueue(path: file).read { db in
            let collection = try #require(try StoredCollection("books", in: "A", db, withIndexes: true))
            let cursors = [nil, PageCursor(id: Array("5".utf8))]
            let keyed = PageCursor(key: IndexKey.bytes(of: [7]), id: Array("7".utf8))
            var queries: [RecordQuery] = []
            for isDescending in [false, true] {
                for bounds in [nil, .between("1", and: "9"), .prefix("")] as [RecordRange.Bounds?] {
                    queries += cursors.map {
                        RecordQuery(
                            collection: "books", .range(RecordRange(bounds)), isDescending: isDescending, after: $0)
                    }
                }
                for bounds in [nil, .between(1, and: 9)] as [RecordRange.Bounds?] {
                    queries += [nil, keyed].map {
                        RecordQuery(
                            collection: "books", .range(RecordRange(of: "year", bounds)), isDescending: isDescending,
                            after: $0)
                    }
                }
            }
            var statements = try queries.flatMap { query in
                let selection = try SQLSelection(query, collection, db)
                return [(selection.pageSQL, selection.arguments + [10]), (selection.countSQL, selection.arguments)]
            }
            statements.append((SQLSelection.changesSQL, [collection.number, 0, 10]))
            for (sql, arguments) in statements {
                let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments).map {
                    $0["detail"] as String
                }
                #expect(!plan.isEmpty)
                for line in plan {
                    #expect(line.hasPrefix("SEARCH ") && !line.contains("TEMP B-TREE"), "\(plan) of \(sql)")
                }
                // A cursor on an index is found by both of its parts, not read up to.
                if sql.contains("entries") { #expect(plan[0].contains("(key,id)"), "\(plan) of \(sql)") }
            }
        }
    }

    @Test func `a record whose stored bytes have changed is told from the others, and can be replaced`() async throws {
        let store = try open()
        try await fill(store)
        // Another byte in the value: SQLite's own check finds nothing wrong with it.
        let queue = try DatabaseQueue(path: file)
        try await queue.write { db in
            try db.execute(
                sql:
                    "UPDATE records SET value = CAST(replace(CAST(value AS TEXT), '5', '6') AS BLOB) WHERE id = CAST('5' AS BLOB)"
            )
            #expect(db.changesCount == 1)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
        for query in [RecordQuery(collection: "books"), RecordQuery(collection: "books", ids: ["5", "50"])] {
            let page = try await store.read(query, in: "A")
            #expect(page.damaged.map(\.id) == ["5"])
            #expect(page.damaged.allSatisfy { $0.value.isEmpty && $0.version > 0 })
            #expect(!page.records.contains { $0.id == "5" } && page.records.contains { $0.id == "50" })
        }
        let error = await #expect(throws: BackplaneError.self) {
            try await store.page(OffsetQuery(collection: "books", ids: ["5"]), in: "A")
        }
        #expect(error?.code == .storeDamaged && error?.location == #"books/"5""#)

        let value = Array(#"{"year":1000,"title":"t5"}"#.utf8)
        try await store.write([.save(collection: "books", StoredRecord(id: "5", value: value))], in: "A")
        let range = RecordRange(of: "year")
        let page = try await store.read(RecordQuery(collection: "books", .range(range), isDescending: true), in: "A")
        #expect(page.records.count == 100 && page.damaged.isEmpty, "the entry of the damaged record is gone")
        #expect(page.records.first?.value == value)
    }

    @Test func `a record whose bytes have changed is told from the others that a search finds, and can be replaced`()
        async throws
    {
        let store = try open(), texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        func save(_ id: String, _ title: String) async throws {
            let value = Array(#"{"title":"\#(title)"}"#.utf8)
            try await store.write([.save(collection: "books", StoredRecord(id: id, value: value))], in: "A")
        }
        func found(_ text: String) async throws -> RecordPage {
            try await store.read(RecordQuery(collection: "books", .search(index: "words", text: text)), in: "A")
        }
        for id in ["1", "2"] { try await save(id, "comet \(id)") }
        let queue = try DatabaseQueue(path: file)
        try await queue.write { db in
            try db.execute(sql: "UPDATE records SET value = CAST('{}' AS BLOB) WHERE id = CAST('1' AS BLOB)")
            #expect(db.changesCount == 1)
        }
        let page = try await found("comet")
        #expect(page.records.map(\.id) == ["2"] && page.damaged.map(\.id) == ["1"])
        try await save("1", "planet")
        #expect(try await found("comet").records.map(\.id) == ["2"])
        #expect(try await found("planet").records.map(\.id) == ["1"])
    }

    @Test func `a search reads the index of words, and of the records only those that it finds`() async throws {
        let store = try open(), texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        let queue = try DatabaseQueue(path: file), support = try await queue.write { try FullTextSupport($0) }
        try await queue.read { db in
            let collection = try #require(try StoredCollection("books", in: "A", db, withIndexes: false))
            let table = try StoredIndex.ofTexts("words", of: collection, support, in: db)
            for (isDescending, cursor) in [(false, nil), (true, nil), (false, PageCursor(rank: -1, number: 1))] {
                let query = RecordQuery(
                    collection: "books", .search(index: "words", text: "x"), isDescending: isDescending, after: cursor)
                let arguments = table.searchArguments(try SearchedWords("x", query), query, limit: 10)
                let plan = try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN \(table.searchSQL(query))", arguments: arguments
                ).map { $0["detail"] as String }
                #expect(plan.count == 2 && plan[0].contains("VIRTUAL TABLE INDEX"), "\(plan)")
                #expect(plan[1].hasPrefix("SEARCH r USING INTEGER PRIMARY KEY"), "\(plan)")
            }
        }
    }

    @Test func `an index that was being built when the process ended is finished by the next definition`() async throws
    {
        let texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        let definition = CollectionDefinition("books", indexes: [IndexDefinition("year"), texts])
        do {
            let store = try open()
            try await store.write(
                (0..<5_000).map {
                    .save(
                        collection: "books",
                        StoredRecord(
                            id: "\($0)", value: Array(#"{"year":\#($0),"title":"title \#($0)"}"#.utf8)))
                }, in: "A")
            let queue = try DatabaseQueue(path: file), support = try await queue.write { try FullTextSupport($0) }
            let building = IndexBuilding(definition: definition, namespace: "A", support: support)
            try await queue.write { try building.begin(in: $0) }
            _ = try await queue.write { try building.step(in: $0) }
            let range = RecordQuery(collection: "books", .range(RecordRange(of: "year")))
            let error = await #expect(throws: BackplaneError.self) { try await store.read(range, in: "A") }
            #expect(error?.code == .storeUnindexed, "half an index is none")
            let words = RecordQuery(collection: "books", .search(index: "words", text: "title"))
            let other = await #expect(throws: BackplaneError.self) { try await store.read(words, in: "A") }
            #expect(other?.code == .storeUnindexed)
        }
        let store = try open()
        try await store.define(definition, in: "A")
        let query = RecordQuery(collection: "books", .range(RecordRange(of: "year")))
        #expect(try await store.count(query, in: "A") == 5_000)
        let words = RecordQuery(collection: "books", .search(index: "words", text: "title"))
        #expect(try await store.count(words, in: "A") == 5_000)
    }

    @Test func `an index of words is deleted in steps, between which others write, and which another process goes on`()
        async throws
    {
        let texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(prefixes: [2]))
        let store = try open()
        func save(_ ids: Range<Int>) async throws {
            try await store.write(
                ids.map {
                    .save(collection: "books", StoredRecord(id: "\($0)", value: Array(#"{"title":"t\#($0)"}"#.utf8)))
                }, in: "A")
        }
        try await save(0..<5_000)
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        let queue = try DatabaseQueue(path: file)
        func tables() async throws -> [String] {
            try await queue.read {
                try String.fetchAll(
                    $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'text_%' OR name LIKE 'removed_%'")
            }
        }
        #expect(try await !tables().isEmpty)
        let support = try await queue.write { try FullTextSupport($0) }
        let building = IndexBuilding(
            definition: CollectionDefinition("books", indexes: []), namespace: "A", support: support)
        try await queue.write { try building.begin(in: $0) }
        for step in 0..<4 {
            #expect(try await !queue.write { try building.step(in: $0) })
            #expect(try await !tables().isEmpty, "step \(step)")
            #expect(try await queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
            try await save(step..<step + 1)
        }
        // The index is declared again before the old one is gone.
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        let left = try await tables()
        #expect(left.allSatisfy { $0.hasPrefix("text_2") }, "\(left)")
        let words = RecordQuery(collection: "books", .search(index: "words", text: "t4999"))
        #expect(try await store.count(words, in: "A") == 1)
    }

    @Test(arguments: [["a"], ["a", "b.c"], ["", ","], ["\"", "a"], ["\\", "[\"]"], ["é\n", "a/b", "\",\""], []])
    func `the paths of an index are read as they were written`(paths: [String]) throws {
        let json = String(decoding: try JSONEncoder().encode(paths), as: UTF8.self)
        #expect(try StoredIndex.paths(json) == paths)
    }

    @Test func `a reader that waits for changes reads no records meanwhile`() async throws {
        let statements = Mutex<[String]>([])
        var traced = StoreFile(folder: folder, durability: .full, damaged: .salvage)
        traced.prepare = { db in db.trace { event in statements.withLock { $0.append("\(event)") } } }
        let store = try SQLiteRecordStore(traced) { Issue.record("\($0)") }
        try await fill(store)
        statements.withLock { $0 = [] }
        try await store.waitForChange(of: "books", since: 1, in: "A")
        let last = try await store.read(RecordQuery(collection: "books", limit: 0), in: "A").change
        let found = statements.withLock { $0 }.filter { $0.hasPrefix("SELECT") }
        #expect(found.contains { $0.contains("FROM collections") })
        #expect(!found.contains { $0.contains("FROM changes") }, "\(found)")
        #expect(last == 100)
    }
}
