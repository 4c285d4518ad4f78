import Backplane
import BackplaneConformance
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

@testable import BackplaneSQLite

/// Stores on machines whose SQLite has no FTS5, or not all of its tokenizers.
@Suite(.timeLimit(.minutes(5)))
final class FullTextSupportTests {
    private let folder: String

    init() throws { folder = try StorageFixture.folder() }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A tokenizer that cannot be made, in place of SQLite's own.
    private final class MissingTokenizer: FTS5CustomTokenizer {
        static let name = "trigram"

        init(db: Database, arguments: [String]) throws { throw DatabaseError(resultCode: .SQLITE_ERROR) }

        func tokenize(
            context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
            nText: CInt, tokenCallback: @escaping FTS5TokenCallback
        ) -> CInt { 0 }
    }

    private enum Machine: CaseIterable {
        case complete, withoutTrigram, withoutFTS5

        func prepare(_ db: Database) throws {
            switch self {
            case .complete: break
            case .withoutTrigram: db.add(tokenizer: MissingTokenizer.self)
            case .withoutFTS5:
                typealias DropModules = @convention(c) (OpaquePointer?, UnsafeRawPointer?) -> CInt
                let function = try #require(dlsym(nil, "sqlite3_drop_modules"))
                #expect(unsafeBitCast(function, to: DropModules.self)(db.sqliteConnection, nil) == 0)
            }
        }
    }

    private func open(on machine: Machine) throws -> SQLiteRecordStore {
        var file = StoreFile(folder: folder, durability: .full, damaged: .salvage)
        file.prepare = { try machine.prepare($0) }
        return try SQLiteRecordStore(file) { Issue.record("\($0)") }
    }

    private static let definition = CollectionDefinition(
        "books",
        indexes: [
            IndexDefinition("year"),
            IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(prefixes: [2])),
            IndexDefinition(paths: ["title"], name: "parts", text: TextIndexing(.substrings)),
        ])

    private func book(_ id: String, _ title: String) -> RecordChange {
        .save(
            collection: "books", StoredRecord(id: id, value: Array(#"{"title":"\#(title)","year":1865}"#.utf8)))
    }

    private func save(_ id: String, _ title: String, in store: SQLiteRecordStore) async throws {
        try await store.write([book(id, title)], in: "A")
    }

    private func found(_ text: String, by index: String, in store: SQLiteRecordStore) async throws -> [String] {
        let query = RecordQuery(collection: "books", .search(index: index, text: text))
        let records = try await store.read(query, in: "A").records.map(\.id).sorted()
        #expect(try await store.count(query, in: "A") == records.count)
        return records
    }

    private func expectUnsupported(_ index: String, _ reason: String, in store: SQLiteRecordStore) async {
        let error = await #expect(throws: BackplaneError.self) {
            _ = try await self.found("moon", by: index, in: store)
        }
        #expect(error?.code == .storeUnsupported && error?.location == "books")
        for text in ["the index `\(index)`", "the tokenizer `", reason, "install SQLite 3.34 or later with FTS5"] {
            #expect(error?.message.contains(text) == true, "\(String(describing: error))")
        }
    }

    @Test(
        arguments: RecordStoreConformance.requirements.filter {
            "\($0)".contains("texts") || "\($0)".contains("full text")
        })
    func `without FTS5 a store does what every store without full text must do`(
        requirement: RecordStoreConformance.Requirement
    ) async throws {
        let store = try open(on: .withoutFTS5)
        #expect(store.capabilities == [])
        try await requirement.check(store)
    }

    @Test func `with all tokenizers a store has full text`() throws {
        #expect(try open(on: .complete).capabilities == .fullText)
    }

    @Test func `a collection whose index has no tokenizer is read and written, and a search says what is missing`()
        async throws
    {
        let store = try open(on: .withoutTrigram)
        #expect(store.capabilities == [])
        try await save("before", "Around the Moon", in: store)
        try await store.define(Self.definition, in: "A")
        try await save("after", "From the Earth to the Moon", in: store)
        #expect(try await found("moon", by: "words", in: store) == ["after", "before"])
        await expectUnsupported("parts", "`substrings`", in: store)
        let error = await #expect(throws: BackplaneError.self) {
            _ = try await self.found("moon", by: "none", in: store)
        }
        #expect(error?.code == .storeUnindexed)
        let listed = try await store.collections(in: "A").flatMap(\.definition.indexes)
        #expect(listed.map(\.name) == ["parts", "words", "year"])
    }

    @Test func `a file is used on machines with and without FTS5, and what was written without it is found`()
        async throws
    {
        do {
            let store = try open(on: .complete)
            try await store.define(Self.definition, in: "A")
            try await store.write((0..<3_000).map { book("\(10_000 + $0)", "a title") }, in: "A")
            try await save("moon", "From the Earth to the Moon", in: store)
        }
        do {
            let store = try open(on: .withoutFTS5)
            try await store.define(Self.definition, in: "A")
            await expectUnsupported("words", "no such module: fts5", in: store)
            try await save("sea", "Twenty Thousand Leagues under the Sea, and the Moon", in: store)
            try await store.write([.delete(collection: "books", id: "moon")], in: "A")
            try await store.define(Self.definition, in: "A")
            await expectUnsupported("parts", "no such module: fts5", in: store)
            let years = RecordQuery(collection: "books", .range(RecordRange(of: "year")))
            #expect(try await store.count(years, in: "A") == 3_001)
            #expect(try await store.findDamage().isEmpty)
        }
        do {
            let store = try open(on: .complete)
            try await store.define(Self.definition, in: "A")
            for (text, index) in [("moon", "words"), ("oon", "parts")] {
                #expect(try await found(text, by: index, in: store) == ["sea"], "\(index)")
            }
            #expect(try await found("title", by: "words", in: store).count == 3_000)
            try await save("sea", "The Sea", in: store)
            #expect(try await found("moon", by: "words", in: store) == [])
            #expect(try await store.findDamage().isEmpty)
        }
        try await DatabaseQueue(path: folder + "/store.sqlite").read { db in
            let states = try Int.fetchAll(db, sql: "SELECT state FROM indexes")
            #expect(states == [0, 0, 0])
        }
    }

    @Test func `a file that was only read without FTS5 is searched as before`() async throws {
        do {
            let store = try open(on: .complete)
            try await store.define(Self.definition, in: "A")
            try await save("moon", "From the Earth to the Moon", in: store)
        }
        do {
            let store = try open(on: .withoutFTS5)
            try await store.define(Self.definition, in: "A")
            await expectUnsupported("words", "no such module: fts5", in: store)
        }
        #expect(try await found("moon", by: "words", in: try open(on: .complete)) == ["moon"])
    }
}
