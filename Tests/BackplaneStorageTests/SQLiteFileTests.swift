import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

/// The file behind the store: missing, damaged, or not to be written.
@Suite(.timeLimit(.minutes(5)))
final class SQLiteFileTests {
    private let files: TestFolder
    private var folder: String { files.path }
    private var file: String { folder + "/store.sqlite" }

    init() throws { files = try TestFolder() }

    private final class Reports: Sendable {
        private let list = Mutex<[BackplaneError]>([])
        var all: [BackplaneError] { list.withLock { $0 } }
        func add(_ error: BackplaneError) { list.withLock { $0.append(error) } }
    }

    private func open() throws -> (store: SQLiteRecordStore, reports: Reports) {
        let reports = Reports()
        return (try SQLiteRecordStore(folder: folder) { reports.add($0) }, reports)
    }

    private let change = RecordChange.save(collection: "books", StoredRecord(id: "1", value: Array("{}".utf8)))
    private let query = RecordQuery(collection: "books")

    @Test func `a missing file is made, for this user alone`() async throws {
        let (store, reports) = try open()
        try await store.write([change], in: "A")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(reports.all.isEmpty)
    }

    @Test func `it is in WAL mode`() async throws {
        let (store, _) = try open()
        try await store.write([change], in: "A")
        // SQLite's file format: both version numbers, at offsets 18 and 19, are 2 in WAL mode.
        let header = try Data(contentsOf: URL(filePath: file)).prefix(20)
        #expect(Array(header.suffix(2)) == [2, 2])
    }

    @Test func `records are there when the store is opened again`() async throws {
        try await open().store.write([change], in: "A")
        #expect(try await open().store.read(query, in: "A").records.map(\.id) == ["1"])
    }

    @Test(arguments: [
        "this is no database at all, whatever its name says", "SQLite format 3\u{0} and then nothing that makes sense",
    ])
    func `a file that is no database is moved aside and reported, and a new one begun`(contents: String) async throws {
        let contents = contents + String(repeating: ".", count: 4_096)
        try Data(contents.utf8).write(to: URL(filePath: file))

        let (store, reports) = try open()
        try await store.write([change], in: "A")

        #expect(try await store.count(query, in: "A") == 1)
        #expect(reports.all.map(\.code) == [.storeDamaged])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let aside = try #require(names.first { $0.hasPrefix("store.sqlite.damaged-") })
        #expect(
            try Data(contentsOf: URL(filePath: "\(folder)/\(aside)")) == Data(contents.utf8), "nothing of it is lost")
        #expect(reports.all[0].message.contains(aside))
    }

    /// Leaves the file as a process that is killed in the middle of a transaction with a journal: some pages are
    /// written already, and the journal has their contents from before.
    private func leaveJournal(
        after prepare: @escaping (Database) throws -> Void, in change: @escaping (Database) throws -> Void
    ) throws {
        let place = try TestFolder(), other = place.path, source = other + "/store.sqlite"
        let database = try DatabaseQueue(path: source)
        try database.writeWithoutTransaction { db in
            try prepare(db)
            try db.execute(sql: "PRAGMA cache_size = 2")
        }
        try database.write { db in
            try change(db)
            // More than the cache takes, so that pages are written before the end.
            try db.execute(sql: "CREATE TABLE begun (page)")
            for _ in 0..<50 { try db.execute(sql: "INSERT INTO begun VALUES (zeroblob(3000))") }
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: source + suffix, toPath: file + suffix)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file + suffix)
            }
        }
        try database.close()
    }

    @Test func `a transaction that was not finished is undone, and the records from before are there`() async throws {
        try await open().store.write([change], in: "A")
        let kept = folder + "/kept"
        try FileManager.default.moveItem(atPath: file, toPath: kept)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
        try leaveJournal { db in
            try db.execute(sql: "ATTACH ? AS kept", arguments: [kept])
            for sql in try String.fetchAll(db, sql: "SELECT sql FROM kept.sqlite_master WHERE sql IS NOT NULL") {
                try db.execute(sql: sql)
            }
            let tables = "SELECT name FROM kept.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            for table in try String.fetchAll(db, sql: tables) {
                try db.execute(sql: "INSERT INTO main.\(table) SELECT * FROM kept.\(table)")
            }
            try db.execute(sql: "DETACH kept")
        } in: { db in
            try db.execute(sql: "UPDATE records SET id = CAST('unfinished' AS BLOB)")
        }
        let written = try Data(contentsOf: URL(filePath: file))
        try #require(written.range(of: Data("unfinished".utf8)) != nil)
        let (store, reports) = try open()
        #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"])
        #expect(reports.all.isEmpty)
    }

    @Test func `a folder in its place is an error that says where`() throws {
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let error = #expect(throws: BackplaneError.self) { try open() }
        #expect(error?.code == .storeUnusable)
        #expect(error?.location == file)
    }

    @Test func `a file that may not be written is an error that says where, and stays as it is`() async throws {
        try await open().store.write([change], in: "A")
        let before = try Data(contentsOf: URL(filePath: file))
        // The rights of a file do not bind the superuser; a read-only mount binds everybody.
        guard mount("none", folder, nil, UInt(MS_BIND), nil) == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        try #require(mount("none", folder, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)

        let error = #expect(throws: BackplaneError.self) {
            let store = try open().store
            Issue.record("opened \(store)")
        }

        #expect(error?.code == .storeUnusable)
        #expect(error?.message.contains("read-only") == true)
        #expect(error?.location == file)
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }

    @Test func `a disk without room is an error that says so, and what was kept before is there`() async throws {
        guard mount("none", folder, "tmpfs", 0, "size=512k") == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        let store = try open().store
        try await store.write([change], in: "A")
        var failure: BackplaneError?
        for number in 0..<1_000 where failure == nil {
            do {
                try await store.write(
                    [
                        .save(
                            collection: "large",
                            StoredRecord(id: "\(number)", value: Array(repeating: 65, count: 20_000)))
                    ], in: "A")
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .storeUnusable)
        #expect(failure?.message.contains("the disk is full") == true, "\(String(describing: failure))")
        #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"])
    }
}
