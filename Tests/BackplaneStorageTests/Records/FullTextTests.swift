import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import Testing

/// Searches for words as a data access controller makes them.
@Suite(.timeLimit(.minutes(5)))
struct FullTextTests {
    struct Book: Record, Equatable {
        var id: String
        var title: String
        var authors: [Author] = []
        var subjects: [String]?

        struct Author: Codable, Equatable { var name: String }
        struct Indexes: RecordIndexes {
            let title = Indexed<String>("title")
            let words = FullText("title", "authors.name", "subjects", prefixes: [2, 3])
            let parts = FullText("title", tokenizer: .substrings)
        }
    }
    struct Note: Record {
        var id: String
    }

    private static let books = [
        Book(id: "moon", title: "From the Earth to the Moon", authors: [.init(name: "Jules Verne")]),
        Book(id: "moby", title: "Moby-Dick", authors: [.init(name: "Herman Melville")], subjects: ["whales", "sea"]),
        Book(id: "emma", title: "Emma", authors: [.init(name: "Jane Austen")]),
    ]

    @Test func `an engine in memory says that it cannot search, and does all the rest`() async throws {
        try await Engine.memory.lend { store, _, records in
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            #expect(try await books.query(\.title, prefix: "E").all().map(\.id) == ["emma"])
            let error = await storeError { try await books.search(\.words, "moon").records }
            #expect(error?.code == .storeUnsupported && error?.location == "Book")
            #expect(error?.message.contains("`openStore`") == true, "it says what to do")
            let listed = try await records.collections(in: "Books").flatMap(\.definition.indexes)
            #expect(listed.map(\.name) == ["text(title)", "text(title,authors.name,subjects)", "title"])
        }
    }

    typealias Engine = RecordStoreTests.Engine
    @Test func `records are found by words of any property, and are of their type`() async throws {
        try await Engine.sqlite.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            #expect(try await books.search(\.words, "whale* melville").records == [Self.books[1]])
            #expect(try await books.search(\.words, "verne austen").records == [])
            let best = try await books.search(\.words, "m*", limit: 1)
            let others = try await books.search(\.words, "m*", limit: 2, after: best.next)
            #expect(best.records.count == 1 && best.next != nil && others.next == nil)
            #expect(Set((best.records + others.records).map(\.id)) == ["moon", "moby"])
            #expect(try await books.search(\.parts, "oby").records.map(\.id) == ["moby"])
            let found = try await books.search(\.words, "moon")
            var moon = try #require(found.versioned.first)
            moon.record.title = "Around the Moon"
            try await books.save(moon.record, ifVersion: moon.version)
            #expect(try await books.search(\.words, "earth").records.isEmpty)
            let error = await storeError { try await books.search(\.words, " ").records }
            #expect(error?.code == .callInvalidInput)
        }
    }

    @Test func `a transaction that has searched conflicts with what it would have found`() async throws {
        try await Engine.sqlite.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            var found: [[String]] = []
            try await store.transaction { transaction in
                let own = transaction.collection(Book.self)
                found.append(try await own.search(\.words, "e*").records.map(\.id).sorted())
                if found.count == 1 { try await books.save(Book(id: "other", title: "Eliza")) }
                try await transaction.collection(Note.self).save(Note(id: "\(found.count)"))
            }
            #expect(found == [["emma", "moon"], ["emma", "moon", "other"]])
            #expect(try await store.collection(Note.self).all().map(\.id) == ["2"])
            let error = await storeError {
                try await store.transaction { transaction in
                    let own = transaction.collection(Book.self)
                    try await own.delete("emma")
                    _ = try await own.search(\.words, "emma")
                }
            }
            #expect(error?.code == .callInvalidInput, "a search does not see what the transaction has changed")
        }
    }

    @Test func `a record that cannot be decoded is told from the others that were found`() async throws {
        try await Engine.sqlite.lend { store, _, records in
            let books = store.collection(Book.self)
            try await books.save(Self.books)
            try await records.write(
                [.save(collection: "Book", StoredRecord(id: "bad", value: Array(#"{"title":"Moon"}"#.utf8)))],
                in: "Books")
            let list = try await books.search(\.words, "moon")
            #expect(list.records.map(\.id) == ["moon"] && list.unreadable.map(\.id) == ["bad"])
        }
    }
}
