import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// Record types that have changed since their records were stored.
@Suite(.timeLimit(.minutes(5)))
struct RecordMigrationTests {
    typealias Engine = RecordStoreTests.Engine

    struct FirstBook: Record {
        static let collection = "books"
        var id: String
        var author: String
    }
    /// The author's name in two parts, by which books are found.
    struct Book: Record, Equatable {
        static let collection = "books"
        static let schema = 2
        var id: String
        var first: String
        var last: String

        struct Indexes: RecordIndexes { let last = Indexed<String>("last") }
        struct NoName: Error {}

        static func migrated(from old: OldRecord) throws -> Book {
            let book = try old.decode(FirstBook.self), names = book.author.split(separator: " ")
            guard names.count == 2 else { throw NoName() }
            return Book(id: book.id, first: String(names[0]), last: String(names[1]))
        }
    }
    /// A later form: books of both earlier ones may be left.
    struct ThirdBook: Record, Equatable {
        static let collection = "books"
        static let schema = 3
        var id: String
        var name: String

        static func migrated(from old: OldRecord) throws -> ThirdBook {
            let book = old.schema == 1 ? try Book.migrated(from: old) : try old.decode(Book.self)
            return ThirdBook(id: book.id, name: "\(book.last), \(book.first)")
        }
    }

    @Test(arguments: Engine.allCases) func `older records are migrated once, and found by the new index`(engine: Engine)
        async throws
    {
        try await engine.lend { store, lent, records in
            try await store.collection(FirstBook.self).save(
                (0..<1_200).map { FirstBook(id: "\($0)", author: "Jules Verne\($0 % 10)") })
            let books = store.collection(Book.self)
            #expect(try await books.query(\.last, equal: "Verne7").count() == 120)
            #expect(try await books.fetch("7") == Book(id: "7", first: "Jules", last: "Verne7"))
            let line = try #require(lent.log.records.first { $0.message == "records were migrated" })
            #expect(line.metadata["migrated"] == "1200" && line.metadata["failed"] == "0")
            let change = try await records.read(RecordQuery(collection: "books", limit: 1), in: "Books").change

            let again = try await LentStore(records)
            #expect(try await again.store.collection(Book.self).query(\.last, equal: "Verne7").count() == 120)
            #expect(again.log.records.allSatisfy { $0.message != "records were migrated" })
            #expect(
                try await records.read(RecordQuery(collection: "books", limit: 1), in: "Books").change == change,
                "nothing is written again")
            await again.stop()
        }
    }

    @Test(arguments: Engine.allCases)
    func `a record that cannot be migrated is reported and kept, and the others are migrated`(engine: Engine)
        async throws
    {
        try await engine.lend { store, lent, records in
            try await store.collection(FirstBook.self).save(
                (0..<700).map { FirstBook(id: "\(1_000 + $0)", author: $0 == 500 ? "Anonymous" : "Jane Austen") })
            let books = store.collection(Book.self)
            #expect(try await books.query(\.last, equal: "Austen").count() == 699)
            let failures = lent.log.records.filter { $0.message == "a record was not migrated, and is kept unchanged" }
            #expect(failures.count == 1)
            #expect(failures.first?.metadata["error"]?.contains("books/1500") == true, "\(failures)")
            let page = try await books.query(idPrefix: "15").page(limit: 1)
            #expect(page.unreadable.map(\.id) == ["1500"])
            #expect(page.unreadable.first?.error.message.contains("from schema 1 to 2 failed") == true)
            #expect(String(decoding: page.unreadable[0].json, as: UTF8.self).contains("Anonymous"))

            // Once it can be, the next start migrates it.
            try await records.write(
                [
                    .save(
                        collection: "books",
                        StoredRecord(id: "1500", value: Array(#"{"id":"1500","author":"A Nonymous"}"#.utf8)))
                ], in: "Books")
            let next = try await LentStore(records)
            #expect(try await next.store.collection(Book.self).query(\.last, equal: "Nonymous").count() == 1)
            await next.stop()
        }
    }

    @Test(arguments: Engine.allCases) func `a migration goes on where it was interrupted`(engine: Engine) async throws {
        let files = try TestFolder(), folder = files.path
        let records = FailingStore(try engine.open(in: folder)), first = try await LentStore(records)
        try await first.store.collection(FirstBook.self).save(
            (0..<1_600).map { FirstBook(id: "\($0)", author: "Jules Verne") })
        records.allowWrites(2)
        let failure = await storeError { try await first.store.collection(Book.self).count() }
        #expect(failure?.code == .storeUnusable)
        await first.stop()
        records.allowWrites(nil)
        let second = try await LentStore(records)
        #expect(try await second.store.collection(Book.self).query(\.last, equal: "Verne").count() == 1_600)
        #expect(second.log.records.first { $0.message == "records were migrated" }?.metadata["migrated"] == "600")
        await second.stop()
    }

    @Test(arguments: Engine.allCases) func `records of two older forms become the newest`(engine: Engine) async throws {
        try await engine.lend { store, _, records in
            try await store.collection(FirstBook.self).save(FirstBook(id: "1", author: "Jules Verne"))
            try await store.collection(Book.self).save(Book(id: "2", first: "Jane", last: "Austen"))
            try await records.write(
                [.save(collection: "books", StoredRecord(id: "3", value: Array(#"{"id":"3","author":"A B"}"#.utf8)))],
                in: "Books")
            #expect(
                try await store.collection(ThirdBook.self).all().map(\.name) == [
                    "Verne, Jules", "Austen, Jane", "B, A",
                ])
        }
    }

    /// The old generation of a plugin and the new one use a collection at the same time, as in a swap.
    @Test(arguments: Engine.allCases) func `two generations with different forms of a type work side by side`(
        engine: Engine
    ) async throws {
        let files = try TestFolder(), folder = files.path
        let records = try engine.open(in: folder)
        let old = try await LentStore(records), new = try await LentStore(records)
        let oldBooks = old.store.collection(FirstBook.self), newBooks = new.store.collection(Book.self)
        try await oldBooks.save(FirstBook(id: "1", author: "Jules Verne"))
        #expect(try await newBooks.fetch("1") == Book(id: "1", first: "Jules", last: "Verne"))
        // The old one finds a record of a form that it does not know, and says so.
        let error = await storeError { try await oldBooks.fetch("1") }
        #expect(error?.code == .storeUndecodable)
        #expect(error?.message.contains("stored with schema 2 of the type, and this is schema 1") == true)
        // What the old one stores now, the new one reads, and its successor migrates.
        try await oldBooks.save(FirstBook(id: "2", author: "Jane Austen"))
        #expect(try await newBooks.fetch("2") == Book(id: "2", first: "Jane", last: "Austen"))
        #expect(try await newBooks.all().count == 2)
        await old.stop()
        await new.stop()
        let next = try await LentStore(records)
        #expect(try await next.store.collection(Book.self).query(\.last, equal: "Austen").count() == 1)
        await next.stop()
    }
}
