import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import Foundation
import Testing

/// The page on storage (docs/storage.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(5)))
struct StoragePageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../docs/storage.md")

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
        #expect(blocks.count == 15)
        for block in blocks {
            let snippet = lines(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
            #expect(source.firstRange(of: snippet) != nil, "\(snippet.joined(separator: "\n"))")
        }
    }

    private enum Simple {
        struct Book: Record {
            var id: String
            var title: String
            var author: String
            var year: Int
        }
    }

    struct Book: Record {
        var id: String
        var title: String
        var author: String
        var year: Int
        var isbn: String?

        struct Indexes: RecordIndexes {
            let title = Indexed<String>("title")
            let author = IndexedPair<String, Int>("author", "year")
            let isbn = Indexed<String?>("isbn", isUnique: true)
        }
    }

    struct Loan: Record {
        var id: String
        var book: String
        struct Indexes: RecordIndexes { let book = Indexed<String>("book") }
    }
    struct NoSuchBook: Error {}
    struct IsLent: Error {}

    @Test func `the first record`() async throws {
        typealias Book = Simple.Book
        try await RecordStoreTests.Engine.memory.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save(
                Book(id: "moon", title: "From the Earth to the Moon", author: "Jules Verne", year: 1865))
            let book = try await books.fetch("moon")
            try await books.delete("moon")
            #expect(book?.year == 1865)
            #expect(try await books.count() == 0)
        }
    }

    private static let shelf = [
        Book(id: "moon", title: "From the Earth to the Moon", author: "Jules Verne", year: 1865, isbn: "1"),
        Book(id: "sea", title: "Twenty Thousand Leagues", author: "Jules Verne", year: 1870),
        Book(id: "around", title: "Around the World", author: "Jules Verne", year: 1873),
        Book(id: "atlas", title: "Atlas", author: "Gerardus Mercator", year: 1595),
    ]

    @Test func `versions`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save(Self.shelf)
            if var found = try await books.fetchVersioned("moon") {
                found.record.year = 1866
                try await books.save(found.record, ifVersion: found.version)
            }
            #expect(try await books.fetch("moon")?.year == 1866)
        }
    }

    @Test func `queries`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, _ in
            let books = store.collection(Book.self)
            try await books.save(Self.shelf)
            var titles: [String] = []
            let verne = try await books.query(\.author, equal: "Jules Verne").all()
            let seventies = books.query(\.author, equal: "Jules Verne", from: 1870, upTo: 1880)
            let count = try await seventies.count()
            for try await book in books.query(\.title, prefix: "A").descending { titles.append(book.title) }
            #expect(verne.count == 3 && count == 2 && titles == ["Atlas", "Around the World"])

            let first = try await books.query(\.title).page(limit: 20)
            let second = try await books.query(\.title).page(limit: 20, after: first.next)
            #expect(first.records.count == 4 && first.next == nil && second.records.count == 4)
        }
    }

    struct Novel: Record {
        var id: String
        var title: String
        var authors: [Author]
        var subjects: [String]?

        struct Author: Codable { var name: String }
        struct Indexes: RecordIndexes {
            let words = FullText("title", "authors.name", "subjects", prefixes: [2, 3])
        }
    }

    @Test func `words`() async throws {
        try await RecordStoreTests.Engine.sqlite.lend { store, _, _ in
            let novels = store.collection(Novel.self)
            try await novels.save([
                Novel(id: "moon", title: "From the Earth to the Moon", authors: [.init(name: "Jules Verne")]),
                Novel(id: "moby", title: "Moby-Dick", authors: [.init(name: "Herman Melville")], subjects: ["whales"]),
            ])
            let found = try await novels.search(\.words, "verne moo*", limit: 20)
            #expect(found.records.map(\.id) == ["moon"])
            try await novels.save(
                (0..<25).map { Novel(id: "\($0)", title: "Volume \($0)", authors: [.init(name: "Verne")]) })
            let best = try await novels.search(\.words, "verne", limit: 20)
            let others = try await novels.search(\.words, "verne", limit: 20, after: best.next)
            #expect(Set((best.records + others.records).map(\.id)).count == 26 && others.next == nil)
        }
    }

    @Test func `changes`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, _ in
            let books = store.collection(Book.self)
            let shown = Recorder<[String]>([])
            let show: @Sendable (Book) -> Void = { shown.value.append($0.id) }
            let hide: @Sendable (String) -> Void = { shown.value.append("not \($0)") }
            try await books.save(Self.shelf[0])
            let reading = Task {
                var last = try await books.lastChange()
                for book in try await books.all() { show(book) }
                for try await change in books.changes(since: last) {
                    switch change.kind {
                    case .inserted, .updated: if let book = change.record { show(book) }
                    case .deleted: hide(change.id)
                    case .emptied, .missed: for book in try await books.all() { show(book) }
                    }
                    last = change.number
                }
            }
            while shown.value != ["moon"] { await Task.yield() }
            try await books.save(Self.shelf[1])
            while shown.value != ["moon", "sea"] { await Task.yield() }
            try await books.delete("moon")
            while shown.value != ["moon", "sea", "not moon"] { await Task.yield() }
            reading.cancel()
            _ = await reading.result
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded]) func `changes that are handed on`(lanes: LaneRule) async throws {
        let folder = try StorageFixture.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let manifest = Manifest(managers: [
            "Shelf": ManagerDefinition(
                className: "ShelfManager",
                dataAccessController: DataAccessControllerDefinition(className: "ShelfStore"))
        ])
        let records = MemoryRecordStore()
        let host = PluginHost(
            manifest: manifest, plugins: [ShelfPlugin.self],
            options: HostOptions(dataFolder: folder, openStore: { _, _, _ in records }, lanes: lanes))
        let shelf: Remote<Shelf> = try await host.manager("Shelf")
        if lanes == .fastest {
            for wire in await host.wires { #expect(wire.lane == .native, "\(wire)") }
        }
        let reading = Task {
            var ids: [String] = []
            for try await change in shelf.changes(ChangesSince(0)) {
                ids.append(change.record?.id ?? "?")
                if ids.count == 2 { break }
            }
            return ids
        }
        for book in Self.shelf.prefix(2) {
            let value = try StoredForm.encode(book)
            try await records.write(
                [.save(collection: "Book", StoredRecord(id: book.id, value: value))], in: "ShelfStore")
        }
        #expect(try await reading.value == ["moon", "sea"])
        await host.stop()
    }

    struct Shelf: Contract {
        static let version: Version = "1.0.0"
        let changes = StreamMethod<ChangesSince<Book>, CollectionChange<Book>>()
        init() {}
    }

    private struct ShelfPlugin: Plugin {
        static let id = "org.backplane.tests.shelf-page"
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
            table.stream(\.changes) { manager, place, elements, call in
                let changes = manager.context.wires.dataAccessController.changes(place, call)
                try await elements.send(contentsOf: changes)
            }
        }
    }

    private final class ShelfStore: DataAccessController {
        typealias Provides = Shelf
        private let books: RecordCollection<Book>
        init(_ context: Context) { books = context.store.collection() }
        static func methods(_ table: inout Methods) {
            table.stream(\.changes) { shelf, place, elements, _ in
                try await elements.send(contentsOf: shelf.books.changes(since: place.number))
            }
        }
    }

    @Test func `transactions`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, _ in
            func lend(_ id: String, to reader: String) async throws {
                try await store.transaction { transaction in
                    let books = transaction.collection(Book.self), loans = transaction.collection(Loan.self)
                    guard try await books.fetch(id) != nil else { throw NoSuchBook() }
                    guard try await loans.query(\.book, equal: id).count() == 0 else { throw IsLent() }
                    try await loans.save(Loan(id: reader, book: id))
                }
            }
            try await store.collection(Book.self).save(Self.shelf)
            try await lend("sea", to: "ada")
            await #expect(throws: IsLent.self) { try await lend("sea", to: "bob") }
            await #expect(throws: NoSuchBook.self) { try await lend("none", to: "bob") }
        }
    }

    struct UnknownName: Error { var name: String }

    struct Author: Record {
        static let schema = 2
        var id: String
        var first: String
        var last: String

        struct Indexes: RecordIndexes { let last = Indexed<String>("last") }

        static func migrated(from old: OldRecord) throws -> Author {
            struct First: Decodable {
                var id: String
                var name: String
            }
            let author = try old.decode(First.self), names = author.name.split(separator: " ")
            guard names.count == 2 else { throw UnknownName(name: author.name) }
            return Author(id: author.id, first: String(names[0]), last: String(names[1]))
        }
    }

    @Test func `migrations`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, records in
            let old = StoredRecord(id: "1", value: Array(#"{"id":"1","name":"Jules Verne"}"#.utf8))
            try await records.write([.save(collection: "Author", old)], in: "Books")
            let verne = try await store.collection(Author.self).query(\.last, equal: "Verne").first()
            #expect(verne?.first == "Jules")
        }
    }

    @Test func `what cannot be read`() async throws {
        try await RecordStoreTests.Engine.memory.lend { store, _, records in
            try await records.write(
                [.save(collection: "Book", StoredRecord(id: "bad", value: Array("{}".utf8)))], in: "Books")
            let books = store.collection(Book.self)
            var problems: [String] = []
            let page = try await books.query().page()
            for record in page.unreadable { problems.append("\(record.id): \(record.error.message)") }
            #expect(problems == ["bad: `id` is missing"])
        }
    }
}
