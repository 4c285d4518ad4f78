import Backplane
import BackplaneStorage
import Foundation
import Testing

#if Engines
import BackplaneSQLite
#endif

/// What every store must do, whatever it keeps its records in.
@Suite(.timeLimit(.minutes(5)))
struct RecordStoreTests {
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case memory
        #if Engines
        case sqlite
        #endif

        var testDescription: String { rawValue }

        func open(in folder: String) throws -> any RecordStore {
            switch self {
            case .memory: MemoryRecordStore()
            #if Engines
            case .sqlite: try SQLiteRecordStore(folder: folder) { Issue.record("nothing was damaged: \($0)") }
            #endif
            }
        }
    }

    private func withStore(_ engine: Engine, _ body: (any RecordStore) async throws -> Void) async throws {
        let folder = try StorageFixture.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(try engine.open(in: folder))
    }

    private func save(_ id: String, _ value: String = "{}", in collection: String = "books") -> RecordChange {
        .save(collection: collection, StoredRecord(id: id, value: Array(value.utf8)))
    }

    private func ids(_ store: any RecordStore, _ query: RecordQuery, in namespace: String = "A") async throws
        -> [String]
    {
        try await store.read(query, in: namespace).records.map(\.id)
    }

    @Test(arguments: Engine.allCases)
    func `what was saved is found by its id, and a second save replaces it`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write([save("1", "[1]")], in: "A")
            try await store.write([save("1", "[2]"), save("2", "[3]")], in: "A")
            let page = try await store.read(RecordQuery(collection: "books", ids: ["1"]), in: "A")
            #expect(page == RecordPage(records: [StoredRecord(id: "1", value: Array("[2]".utf8))], total: 1))
        }
    }

    @Test(arguments: Engine.allCases)
    func `namespaces and collections do not see each other`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write([save("1"), save("2", in: "authors")], in: "A")
            try await store.write([save("3")], in: "B")
            #expect(try await ids(store, RecordQuery(collection: "books")) == ["1"])
            #expect(try await ids(store, RecordQuery(collection: "books"), in: "B") == ["3"])

            try await store.write([.deleteAll(collection: "books")], in: "A")

            #expect(try await ids(store, RecordQuery(collection: "books")) == [])
            #expect(try await ids(store, RecordQuery(collection: "authors")) == ["2"])
            #expect(try await ids(store, RecordQuery(collection: "books"), in: "B") == ["3"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `records come in the order of their ids' bytes, page by page, with the number of all`(engine: Engine)
        async throws
    {
        try await withStore(engine) { store in
            try await store.write(["b", "a", "é", "Z", "10", "9"].map { save($0) }, in: "A")
            #expect(try await ids(store, RecordQuery(collection: "books")) == ["10", "9", "Z", "a", "b", "é"])
            let page = try await store.read(RecordQuery(collection: "books", offset: 2, limit: 2), in: "A")
            #expect(page.records.map(\.id) == ["Z", "a"])
            #expect(page.total == 6)
            #expect(try await ids(store, RecordQuery(collection: "books", offset: 10)) == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a limit of zero only counts`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write((0..<50).map { save("\($0)") }, in: "A")
            #expect(
                try await store.read(RecordQuery(collection: "books", limit: 0), in: "A")
                    == RecordPage(records: [], total: 50))
        }
    }

    @Test(arguments: Engine.allCases)
    func `ids that are not there are left out, and no ids find nothing`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write([save("1"), save("2"), save("3")], in: "A")
            #expect(try await ids(store, RecordQuery(collection: "books", ids: ["3", "7", "1", "1"])) == ["1", "3"])
            #expect(try await ids(store, RecordQuery(collection: "books", ids: [])) == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `many thousand ids can be asked for at once`(engine: Engine) async throws {
        try await withStore(engine) { store in
            let wanted = (0..<40_000).map { "id-\($0)" }
            try await store.write(wanted.prefix(2_000).map { save($0) }, in: "A")
            #expect(try await store.read(RecordQuery(collection: "books", ids: wanted), in: "A").total == 2_000)
        }
    }

    @Test(arguments: Engine.allCases)
    func `changes are made in the order they are given`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write(
                [
                    save("1"), .deleteAll(collection: "books"), save("2"), save("3"),
                    .delete(collection: "books", id: "3"),
                ], in: "A")
            #expect(try await ids(store, RecordQuery(collection: "books")) == ["2"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `any bytes are kept as they are, and any text is an id`(engine: Engine) async throws {
        try await withStore(engine) { store in
            let value = Array(UInt8.min...UInt8.max), id = "'; DROP TABLE record; --\u{1F40B}"
            try await store.write([.save(collection: "bo'oks", StoredRecord(id: id, value: value))], in: "A'")
            #expect(
                try await store.read(RecordQuery(collection: "bo'oks", ids: [id]), in: "A'").records == [
                    StoredRecord(id: id, value: value)
                ])
        }
    }

    @Test(arguments: Engine.allCases)
    func `ids that look the same and are written with other characters are two`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await store.write([save("\u{E9}", "[1]"), save("e\u{301}", "[2]")], in: "A")
            #expect(try await store.read(RecordQuery(collection: "books"), in: "A").total == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a hundred writers at once lose nothing`(engine: Engine) async throws {
        try await withStore(engine) { store in
            try await withThrowingTaskGroup { group in
                for writer in 0..<100 {
                    group.addTask { try await store.write((0..<10).map { save("\(writer)-\($0)") }, in: "A") }
                }
                try await group.waitForAll()
            }
            #expect(try await store.read(RecordQuery(collection: "books", limit: 0), in: "A").total == 1_000)
        }
    }
}

enum StorageFixture {
    /// A new folder, to be removed by the caller.
    static func folder() throws -> String {
        let url = FileManager.default.temporaryDirectory.appending(path: "backplane-storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return url.path
    }
}
