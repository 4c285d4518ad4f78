import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Testing

/// Typed collections as a data access controller uses them, in each engine.
@Suite(.timeLimit(.minutes(5)))
struct RecordCollectionTests {
    typealias Engine = RecordStoreTests.Engine

    struct Book: Record, Equatable {
        var id: String
        var title: String
        var author: Author?
        var year: Int
        var isbn: String?

        struct Author: Codable, Equatable { var name: String }
        struct Indexes: RecordIndexes {
            let author = IndexedPair<String, Int>("author.name", "year")
            let title = Indexed<String>("title")
            let year = Indexed<Int>("year")
            let isbn = Indexed<String?>("isbn", isUnique: true)
        }
    }

    private static let books = [
        Book(id: "moon", title: "From the Earth to the Moon", author: .init(name: "Verne"), year: 1865, isbn: "1"),
        Book(id: "emma", title: "Emma", author: .init(name: "Austen"), year: 1815, isbn: "2"),
        Book(id: "sea", title: "Twenty Thousand Leagues", author: .init(name: "Verne"), year: 1870),
        Book(id: "around", title: "Around the World", author: .init(name: "Verne"), year: 1873),
        Book(id: "atlas", title: "An atlas", author: nil, year: 1873),
    ]

    private func withBooks(
        _ engine: Engine, _ body: (RecordCollection<Book>, Store, any RecordStore) async throws -> Void
    ) async throws {
        try await engine.lend { store, _, records in
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            try await body(books, store, records)
        }
    }

    @Test(arguments: Engine.allCases) func `records are found by declared indexes, in their order`(engine: Engine)
        async throws
    {
        try await withBooks(engine) { books, _, _ in
            let selections: [(selection: RecordSelection<Book>, ids: [String])] = [
                (books.query(), ["around", "atlas", "emma", "moon", "sea"]),
                (books.query().descending, ["sea", "moon", "emma", "atlas", "around"]),
                (books.query(idPrefix: "a"), ["around", "atlas"]),
                (books.query(\.year), ["emma", "moon", "sea", "around", "atlas"]),
                (books.query(\.year, equal: 1873), ["around", "atlas"]),
                (books.query(\.year, equal: 1873).descending, ["atlas", "around"]),
                (books.query(\.year, from: 1866), ["sea", "around", "atlas"]),
                (books.query(\.year, upTo: 1870), ["emma", "moon"]),
                (books.query(\.year, from: 1865, upTo: 1870), ["moon"]),
                (books.query(\.year, from: 1865, through: 1870), ["moon", "sea"]),
                (books.query(\.title, prefix: "A"), ["atlas", "around"]),
                (books.query(\.isbn, equal: nil), ["around", "atlas", "sea"]),
                (books.query(\.isbn, equal: "2"), ["emma"]),
                (books.query(\.author), ["atlas", "emma", "moon", "sea", "around"]),
                (books.query(\.author, equal: "Verne"), ["moon", "sea", "around"]),
                (books.query(\.author, equal: "Verne", 1870), ["sea"]),
                (books.query(\.author, equal: "Verne", from: 1866), ["sea", "around"]),
                (books.query(\.author, equal: "Verne", from: 1865, upTo: 1873), ["moon", "sea"]),
            ]
            for (selection, ids) in selections {
                let found = try await selection.all().map(\.id)
                #expect(found == ids)
            }
            #expect(try await books.query(\.year, equal: 1815).first() == Self.books[1])
            #expect(try await books.query(\.year, equal: 1816).first() == nil)
            #expect(try await books.query(\.author, equal: "Verne").count() == 3)
            #expect(try await books.count() == 5)
        }
    }

    @Test(arguments: Engine.allCases)
    func `pages begin where the one before ended, whatever was written meanwhile`(engine: Engine) async throws {
        try await withBooks(engine) { books, _, _ in
            let query = books.query(\.year)
            let first = try await query.page(limit: 2)
            #expect(first.records.map(\.id) == ["emma", "moon"])
            try await books.delete("moon")
            try await books.save(Book(id: "early", title: "Early", year: 1700))
            let cursor = try #require(first.next), kept = try #require(PageCursor("\(cursor)"))
            #expect(kept == cursor && PageCursor("\(cursor)0") == nil && PageCursor("zz") == nil)
            #expect(try JSONDecoder().decode([PageCursor].self, from: JSONEncoder().encode([cursor])) == [cursor])
            let second = try await query.page(limit: 2, after: kept)
            #expect(second.records.map(\.id) == ["sea", "around"])
            let last = try await query.page(limit: 2, after: second.next)
            #expect(last.records.map(\.id) == ["atlas"] && last.next == nil)
            let foreign = await storeError { try await books.query(\.title).page(after: PageCursor(bytes: [9])) }
            #expect(foreign?.code == .callInvalidInput)
        }
    }

    @Test(arguments: Engine.allCases) func `iterating reads page by page to the end`(engine: Engine) async throws {
        try await engine.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save((0..<2_500).map { Book(id: "\(10_000 + $0)", title: "", year: $0 % 7) })
            var years: [Int] = []
            for try await book in books.query(\.year) { years.append(book.year) }
            #expect(years == (0..<2_500).map { $0 % 7 }.sorted())
        }
    }

    struct Stamp: Record {
        var id: String
        var serial: UInt64
        var price: Decimal

        struct Indexes: RecordIndexes {
            let serial = Indexed<UInt64>("serial", isUnique: true)
            let price = Indexed<Decimal>("price", isUnique: true)
        }
    }

    @Test(arguments: Engine.allCases) func `large integers and decimals are compared exactly`(engine: Engine)
        async throws
    {
        try await engine.lend { store, _, _ in
            let stamps = store.collection(Stamp.self)
            let prices = try (7...9).map { try #require(Decimal(string: "0.123456789012345678901234567\($0)")) }
            try await stamps.save(Stamp(id: "a", serial: .max - 1, price: prices[0]))
            try await stamps.save(Stamp(id: "b", serial: .max, price: prices[1]))
            #expect(try await stamps.query(\.serial).descending.all().map(\.id) == ["b", "a"])
            #expect(try await stamps.query(\.serial, equal: .max).all().map(\.id) == ["b"])
            #expect(try await stamps.query(\.price, equal: prices[0]).all().map(\.id) == ["a"])
            for stamp in [
                Stamp(id: "c", serial: .max, price: prices[2]), Stamp(id: "c", serial: 1, price: prices[1]),
            ] {
                let error = await storeError { try await stamps.save(stamp) }
                #expect(error?.code == .storeDuplicate, "\(stamp)")
            }
            let none = await storeError { try await stamps.save(Stamp(id: "NaN", serial: 2, price: .nan)) }
            #expect(none?.code == .callInvalidInput, "it could not be read again")
            try await stamps.save(Stamp(id: "NaN", serial: 2, price: 1))
        }
    }

    @Test(arguments: Engine.allCases) func `a version tells what another has changed`(engine: Engine) async throws {
        try await withBooks(engine) { books, _, _ in
            var emma = try #require(try await books.fetchVersioned("emma"))
            emma.record.title = "Emma, a Novel"
            let next = try await books.save(emma.record, ifVersion: emma.version)
            #expect(next > emma.version)
            #expect(try await books.fetchVersioned("emma")?.version == next)
            let conflict = await storeError { try await books.save(emma.record, ifVersion: emma.version) }
            #expect(conflict?.code == .storeConflict && conflict?.location == #"Book/"emma""#)
            #expect(await storeError { try await books.saveIfAbsent(emma.record) }?.code == .storeConflict)
            #expect(await storeError { try await books.delete("emma", ifVersion: 1) }?.code == .storeConflict)
            try await books.delete("emma", ifVersion: next)
            #expect(try await books.saveIfAbsent(emma.record) > next, "a version is never given twice")
        }
    }

    @Test(arguments: Engine.allCases) func `a unique value is refused to a second record`(engine: Engine) async throws {
        try await withBooks(engine) { books, _, _ in
            let twin = Book(id: "other", title: "", year: 0, isbn: "1")
            let refused = await storeError { try await books.save([twin, Self.books[2]]) }
            #expect(refused?.code == .storeDuplicate && refused?.message.contains(#""moon""#) == true)
            let other = try await books.fetch("other")
            #expect(other == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a record that cannot be decoded is reported, kept, and does not hide the others`(engine: Engine) async throws
    {
        try await engine.lend { store, lent, records in
            try await records.write(
                [
                    .save(collection: "Book", StoredRecord(id: "bad", value: Array(#"{"id":"bad","year":1800}"#.utf8))),
                    .save(collection: "Book", StoredRecord(id: "cut", value: Array(#"{"id":"cut","#.utf8))),
                ], in: "Books")
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            let page = try await books.query(\.year).page()
            #expect(page.records.map(\.id) == ["emma", "moon", "sea", "around", "atlas"])
            #expect(page.unreadable.map(\.id) == ["cut", "bad"])
            #expect(page.unreadable.map(\.error.code) == [.storeUndecodable, .storeUndecodable])
            #expect(page.unreadable[1].error.location == "Book/bad/title")
            #expect(String(decoding: page.unreadable[1].json, as: UTF8.self) == #"{"id":"bad","year":1800}"#)
            #expect(try await books.all().count == 5)
            #expect(lent.log.records.count { $0.message == "a record cannot be read and is omitted" } == 2)
            #expect(try await books.count() == 7, "they are kept")
            #expect(await storeError { try await books.fetch("bad") }?.code == .storeUndecodable)
        }
    }

    @Test(arguments: Engine.allCases) func `values that no index has are an error`(engine: Engine) async throws {
        struct Tagged: Record {
            var id: String
            var tags: [String]
            struct Indexes: RecordIndexes { let tags = Indexed<[String]>("tags") }
        }
        struct Odd: Record {
            var id: String
            struct Indexes: RecordIndexes { let count = 7 }
        }
        try await engine.lend { store, _, _ in
            let refused = await storeError {
                try await store.collection(Tagged.self).query(\.tags, equal: ["a"]).all().count
            }
            #expect(refused?.code == .callInvalidInput && refused?.message.contains("found an array") == true)
            let odd = await storeError { try await store.collection(Odd.self).save(Odd(id: "1")) }
            #expect(odd?.code == .callInvalidInput && odd?.message.contains("`count` is not an Indexed") == true)
        }
    }

    @Test(arguments: Engine.allCases)
    func `indexes that are added or removed later are built and deleted at the first use`(engine: Engine) async throws {
        struct Plain: Record {
            static let collection = "Book"
            var id: String
        }
        let files = try TestFolder(), folder = files.path
        let records = try engine.open(in: folder)
        for expected in [["author.name,year", "isbn", "title", "year"], []] {
            let lent = try await LentStore(records)
            if expected.isEmpty {
                #expect(try await lent.store.collection(Plain.self).count() == 5)
            } else {
                // They are stored before there are indexes.
                try await records.write(
                    Self.books.map {
                        .save(
                            collection: "Book",
                            StoredRecord(id: $0.id, value: Array(try! JSONEncoder().encode($0))))
                    }, in: "Books")
                let verne = try await lent.store.collection(Book.self).query(\.author, equal: "Verne").all()
                #expect(verne.map(\.id) == ["moon", "sea", "around"])
            }
            let indexes = try await records.collections(in: "Books").first?.definition.indexes.map(\.name)
            #expect(indexes == expected)
            await lent.stop()
        }
    }

    @Test(arguments: Engine.allCases) func `a task that is cancelled already changes nothing`(engine: Engine)
        async throws
    {
        try await withBooks(engine) { books, _, _ in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await books.save(Book(id: "late", title: "", year: 1))
            }
            let cancelled = await storeError { try await task.value }
            #expect(cancelled?.code == .callCancelled)
            let late = try await books.fetch("late")
            #expect(late == nil)
        }
    }
}
