import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import GRDB
import Testing

@testable import BackplaneSQLite

/// The database behind the store: its query plans, and the building of its indexes.
@Suite(.timeLimit(.minutes(10)))
final class StoreIndexTests {
    private let files: TestFolder
    private var folder: String { files.path }

    init() throws { files = try TestFolder() }

    private func open() throws -> SQLiteRecordStore { try SQLiteRecordStore(folder: folder) { Issue.record("\($0)") } }

    private func fill(_ store: SQLiteRecordStore, _ index: IndexDefinition? = nil) async throws {
        let indexes = index.map { [$0] } ?? [IndexDefinition("year"), IndexDefinition("title", isUnique: true)]
        try await store.define(CollectionDefinition("books", indexes: indexes), in: "A")
        try await store.write(
            (0..<100).map {
                .save(
                    collection: "books",
                    StoredRecord(id: "\($0)", value: Array(#"{"year":\#($0),"title":"t\#($0)"}"#.utf8)))
            }, in: "A")
    }

    @Test func `no query scans a table or sorts`() async throws {
        let store = try open()
        try await fill(store)
        try await store.database.read { db in
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

    @Test func `a search reads the index of words, and of the records only those that it finds`() async throws {
        let store = try open(), texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        try await store.database.read { db in
            let collection = try #require(try StoredCollection("books", in: "A", db, withIndexes: false))
            let table = try #require(
                try StoredIndex.named("words", isOfTexts: true, of: collection, in: db).fullText)
            for (isDescending, cursor) in [(false, nil), (true, nil), (false, PageCursor(rank: -1, number: 1))] {
                let query = RecordQuery(
                    collection: "books", .search(index: "words", text: "x"), isDescending: isDescending, after: cursor)
                let search = table.search(try SearchedWords("x", query), query, limit: 10)
                let plan = try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN \(search.sql)", arguments: search.arguments
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
            let building = IndexBuilding(definition: definition, namespace: "A")
            try await store.database.write { try building.begin(in: $0) }
            _ = try await store.database.write { try building.step(in: $0) }
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

    @Test func `an index of texts is deleted in steps, and a store that is emptied keeps its tables`() async throws {
        let texts = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        let store = try open()
        try await store.define(CollectionDefinition("books", indexes: [texts]), in: "A")
        func tables() async throws -> [String] {
            try await store.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'text_%' ORDER BY name")
            }
        }
        try await fill(store, texts)
        let before = try await tables()
        try await store.write([.deleteAll(collection: "books")], in: "A")
        #expect(try await tables() == before)
        let words = RecordQuery(collection: "books", .search(index: "words", text: "t*"))
        #expect(try await store.count(words, in: "A") == 0)
        try await fill(store, texts)
        #expect(try await store.count(words, in: "A") == 100)
        #expect(try await store.database.write { try FullTextTable.drop(1, atMost: 60, in: $0) } == false)
        #expect(try await store.database.write { try FullTextTable.drop(1, atMost: 60, in: $0) } == true)
        #expect(try await tables() == [])
    }
}
