import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Testing

/// The changes of a collection as a data access controller follows them.
@Suite(.timeLimit(.minutes(5)))
struct RecordChangesTests {
    typealias Engine = RecordStoreTests.Engine

    struct Book: Record, Equatable {
        var id: String
        var title: String
    }

    /// Reads a number of changes.
    private func read(_ count: Int, _ changes: RecordChanges<Book>) async throws -> [CollectionChange<Book>] {
        var read: [CollectionChange<Book>] = []
        if count == 0 { return read }
        for try await change in changes {
            read.append(change)
            if read.count == count { break }
        }
        return read
    }

    @Test(arguments: Engine.allCases) func `inserts, updates and deletes come in order, and then what is made later`(
        engine: Engine
    ) async throws {
        try await engine.lend { store, _, _ in
            let books = store.collection(Book.self)
            #expect(try await books.lastChange() == 0)
            let first = Book(id: "1", title: "One"), second = Book(id: "2", title: "Two")
            let number = try await books.save(first)
            try await books.save([second, Book(id: "3", title: "Three")])
            try await books.save(Book(id: "2", title: "Second"))
            try await books.delete("3")
            let changes = try await read(5, books.changes(since: 0))
            #expect(changes.map(\.kind) == [.inserted, .inserted, .inserted, .updated, .deleted])
            #expect(changes.map(\.id) == ["1", "2", "3", "2", "3"])
            #expect(changes.map { $0.record?.title } == ["One", nil, nil, "Second", nil], "as the log has them")
            #expect(changes[0].number == number && changes.map(\.number) == changes.map(\.number).sorted())
            let last = try await books.lastChange()
            #expect(last == changes.last?.number)
            #expect(try await read(2, books.changes(since: changes[2].number)).map(\.kind) == [.updated, .deleted])

            let following = Task { try await read(2, books.changes(since: last)) }
            try await books.save(Book(id: "4", title: "Four"))
            try await books.deleteAll()
            let later = try await following.value
            #expect(later.map(\.kind) == [.inserted, .emptied])
            #expect(later.map(\.id) == ["4", ""])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a reader that is too slow is told that it missed some, and holds nobody up`(engine: Engine) async throws {
        try await engine.lend { store, _, records in
            let books = store.collection(Book.self)
            try await books.save((0..<600).map { Book(id: "old \($0)", title: "Old") })
            var reader = books.changes(since: 0).makeAsyncIterator()
            #expect(try await reader.next()?.id == "old 0")
            // Nobody reads, and all of this is written.
            for _ in 0..<21 {
                try await records.write(
                    (0..<5_000).map { number in
                        let json = #"{"id":"\#(number)","title":"New"}"#
                        return .save(collection: "Book", StoredRecord(id: "\(number)", value: Array(json.utf8)))
                    }, in: "Books")
            }
            var kinds: [CollectionChangeKind] = [], last: CollectionChange<Book>?
            while last?.id != "4999" || last?.record == nil {
                last = try await reader.next()
                kinds.append(last!.kind)
            }
            #expect(kinds.count(where: { $0 == .missed }) == 1)
            let missed = try #require(kinds.firstIndex(of: .missed))
            #expect(missed == 499, "the page that it had read comes first")
            #expect(kinds.count - missed - 1 >= 100_000)
            #expect(kinds.count < 105_000)
            #expect(last?.record == Book(id: "4999", title: "New"))
            // Where it was told that it missed some, another one can begin without missing any.
            let number = try #require(last?.number)
            try await books.delete("1")
            #expect(try await reader.next()?.kind == .deleted)
            #expect(try await read(1, books.changes(since: number)).map(\.kind) == [.deleted])
        }
    }

    @Test(arguments: Engine.allCases) func `a number of a store that was replaced is told as missed changes`(
        engine: Engine
    ) async throws {
        try await engine.lend { store, _, _ in
            let books = store.collection(Book.self)
            var reader = books.changes(since: 1_000_000).makeAsyncIterator()
            #expect(try await reader.next()?.kind == .missed)
            try await books.save(Book(id: "1", title: "One"))
            #expect(try await reader.next()?.id == "1")
        }
    }

    @Test(arguments: Engine.allCases) func `a reader ends with its task, or with its component`(engine: Engine)
        async throws
    {
        let files = try TestFolder(), folder = files.path
        let lent = try await LentStore(try engine.open(in: folder)), books = lent.store.collection(Book.self)
        let number = try await books.save(Book(id: "1", title: "One"))
        func wait() -> Task<BackplaneError?, Never> {
            Task { () -> BackplaneError? in
                do throws(BackplaneError) {
                    var reader = books.changes(since: number).makeAsyncIterator()
                    _ = try await reader.next()
                    return nil
                } catch {
                    return error
                }
            }
        }
        let cancelled = wait()
        cancelled.cancel()
        #expect(await cancelled.value?.code == .callCancelled)
        let retired = wait()
        await lent.stop()
        #expect(await retired.value?.code == .callRetired)
    }
}
