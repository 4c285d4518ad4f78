import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

/// The file behind the store: missing, damaged, or not to be written.
@Suite(.timeLimit(.minutes(5)))
final class SQLiteFileTests {
    private let folder: String
    private var file: String { folder + "/store.sqlite" }

    init() throws { folder = try StorageFixture.folder() }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

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

    @Test func `a change that another has made to the file ends a wait for it`() async throws {
        let store = try open().store, other = try open().store
        let last = try await store.write([change], in: "A")[0]
        let wait = Task { try await store.waitForChange(of: "books", since: last, in: "A") }
        while store.waitingTasks == 0 { await Task.yield() }
        try await other.write([change], in: "A")
        try await wait.value
        #expect(store.waitingTasks == 0)
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
        let other = try StorageFixture.folder(), source = other + "/store.sqlite"
        defer { try? FileManager.default.removeItem(atPath: other) }
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

    @Test func `a process killed while a new file was set up leaves one that is set up again`() async throws {
        try leaveJournal(after: { _ in }, in: { _ in })
        let (store, reports) = try open()
        try await store.write([change], in: "A")
        #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"])
        #expect(reports.all.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!names.contains { $0.contains("damaged") }, "\(names)")
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

    @Test func `a folder that is gone is an error that says where`() throws {
        try FileManager.default.removeItem(atPath: folder)
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

    /// Mounts a file system of that many KB in place of the folder, for as long as `body` runs.
    private func withDisk(_ size: Int, _ body: (_ enlarge: () throws -> Void) async throws -> Void) async throws {
        guard mount("none", folder, "tmpfs", 0, "size=\(size)k,mode=0700") == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        try await body {
            try #require(mount("none", folder, nil, UInt(MS_REMOUNT), "size=\(size + 4_096)k") == 0)
        }
    }

    /// Returns the error of an opening that fails because the disk is full; `nil` if the store can be opened.
    private func obstacle() throws -> BackplaneError? {
        do {
            _ = try open()
            return nil
        } catch let error as BackplaneError {
            #expect(error.code == .storeUnusable && error.message.contains("the disk is full"), "\(error)")
            return error
        }
    }

    @Test func `a disk too small for a new store is an error that says so, and with more room it is made`() async throws
    {
        var refusals = 0
        for size in stride(from: 4, through: 256, by: 4) {
            try await withDisk(size) { enlarge in
                // What a failed attempt leaves does not matter to the next one.
                for _ in 0..<2 where try obstacle() != nil { refusals += 1 }
                try enlarge()
                let (store, reports) = try open()
                try await store.write([change], in: "A")
                #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"])
                #expect(reports.all.isEmpty, "a disk of \(size) KB")
            }
        }
        #expect(refusals > 0 && refusals < 128, "\(refusals) of 128")
    }

    @Test func `what was kept on a disk that became full is there, or the next opening says why not`() async throws {
        for room in stride(from: 0, through: 160, by: 8) {
            try await withDisk(512) { enlarge in
                do {
                    let store = try open().store
                    try await store.write([change], in: "A")
                }
                // The rest of the disk is taken by others, but for some room.
                var system = statvfs()
                try #require(statvfs(folder, &system) == 0)
                let taken = max(0, Int(system.f_bavail) * Int(system.f_frsize) - room << 10)
                let file = try #require(fopen(folder + "/taken", "w"))
                #expect(posix_fallocate(fileno(file), 0, taken) == 0)
                fclose(file)
                if try obstacle() == nil {
                    let (store, reports) = try open()
                    #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"])
                    #expect(reports.all.isEmpty)
                }
                try enlarge()
                let (store, reports) = try open()
                #expect(try await store.read(query, in: "A").records.map(\.id) == ["1"], "\(room) KB")
                #expect(reports.all.isEmpty, "\(room) KB")
            }
        }
    }
}
