import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

@testable import BackplaneSQLite

/// The file behind the store: whose it is, and what becomes of one that is missing, damaged, foreign or full.
@Suite(.timeLimit(.minutes(5)))
final class StoreFileTests: Sendable {
    private let files: TestFolder
    private var folder: String { files.path }
    private var file: String { folder + "/store.sqlite" }
    private let reported = Mutex<[BackplaneError]>([])
    private var reports: [BackplaneError] { reported.withLock { $0 } }
    private let first = Mutex<SQLiteRecordStore?>(nil)

    init() throws { files = try TestFolder() }

    private func open(damaged: DamagedStorePolicy = .moveAside) throws -> SQLiteRecordStore {
        try SQLiteRecordStore(folder: folder, damaged: damaged) { [weak self] error in
            self?.reported.withLock { $0.append(error) }
        }
    }

    private static func save(_ id: String, bytes: Int = 2) -> RecordChange {
        .save(collection: "books", StoredRecord(id: id, value: Array(repeating: 65, count: bytes)))
    }
    private let query = RecordQuery(collection: "books")

    /// Fills the store with as many records, and closes it.
    private func fill(_ count: Int = 1, bytes: Int = 2) async throws {
        try await open().write((0..<count).map { Self.save("\($0)", bytes: bytes) }, in: "A")
    }

    private func contents(_ name: String = "store.sqlite") throws -> Data {
        try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    // MARK: Sound files

    @Test func `a missing file is made in WAL mode, for this user alone`() async throws {
        let store = try open()
        try await store.write([Self.save("1")], in: "A")
        for name in try names() {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        // SQLite's file format: both version numbers, at offsets 18 and 19, are 2 in WAL mode.
        #expect(try Array(contents().prefix(20).suffix(2)) == [2, 2])
        #expect(reports.isEmpty)
    }

    @Test func `records are there when the store is opened again`() async throws {
        try await fill()
        #expect(try await open().read(query, in: "A").records.map(\.id) == ["0"])
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
        try await fill()
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
            try db.execute(
                sql: "PRAGMA application_id = \(StoreFile.application); PRAGMA user_version = \(StoreFile.version)")
            try db.execute(sql: "DETACH kept")
        } in: { db in
            try db.execute(sql: "UPDATE records SET id = CAST('unfinished' AS BLOB)")
        }
        try #require(try contents().range(of: Data("unfinished".utf8)) != nil)
        #expect(try await open().read(query, in: "A").records.map(\.id) == ["0"])
        #expect(reports.isEmpty)
    }

    // MARK: The owner

    @Test func `a second process is told who has the store open, and may read it`() async throws {
        let process = try StoreProcess("write", folder, "0")
        try #require(!process.read().isEmpty)
        let before = try names()
        let error = #expect(throws: BackplaneError.self) { try open() }
        #expect(error?.code == .storeUnusable && error?.location == file)
        let owner = "process \(process.id) (store-writer), since "
        #expect(error?.message.hasPrefix(owner) == true, "\(String(describing: error))")
        #expect(try names() == before)

        let reader = try SQLiteRecordStore(reading: folder)
        #expect(try await reader.count(RecordQuery(collection: "one"), in: "A") > 0)
        let refused = await #expect(throws: BackplaneError.self) { try await reader.write([Self.save("1")], in: "A") }
        #expect(refused?.code == .storeUnusable)

        process.end(SIGKILL)
        let store = try open()
        #expect(try await store.findDamage().isEmpty, "its lock ended with it")
    }

    @Test func `a store that this process is still closing is waited for`() async throws {
        do {
            let store = try open()
            try await store.write([Self.save("1")], in: "A")
            first.withLock { $0 = store }
        }
        // The second one reads the owner's name, and closes the file again, only after it has found the lock taken.
        let events = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(events) }
        try #require(inotify_add_watch(events, file + ".lock", UInt32(IN_CLOSE_NOWRITE)) >= 0)
        Thread.detachNewThread { [self] in
            var event = [UInt8](repeating: 0, count: 512)
            _ = read(events, &event, event.count)
            first.withLock { $0 = nil }
        }
        #expect(try await open().count(query, in: "A") == 1)
    }

    @Test func `a lock that cannot be made exclusive stays shared`() throws {
        let path = folder + "/lock", locks = try (0..<2).map { _ in try FileLock.open(path, for: path) }
        defer { for lock in locks { FileLock.end(lock) } }
        for lock in locks { #expect(FileLock.set(F_RDLCK, on: lock)) }
        for lock in locks { #expect(!FileLock.set(F_WRLCK, on: lock), "the other one is still there") }
    }

    @Test func `one who reads makes no store, and changes none`() async throws {
        #expect(throws: BackplaneError.self) { try SQLiteRecordStore(reading: folder) }
        #expect(try names() == [])
        try await fill()
        let before = try contents()
        do {
            let reader = try SQLiteRecordStore(reading: folder)
            #expect(try await reader.read(query, in: "A").records.count == 1)
            #expect(try await reader.findDamage().isEmpty)
        }
        #expect(try contents() == before)
    }

    // MARK: Damage

    enum Damage: CaseIterable, Sendable {
        case text, header, truncated, foreign, page, log

        /// Damages a store with 200 records.
        func apply(to file: String) throws {
            var bytes = try Data(contentsOf: URL(filePath: file))
            switch self {
            case .text: bytes = Data(("this is no database at all" + String(repeating: ".", count: 4_096)).utf8)
            case .header: bytes.replaceSubrange(0..<4_096, with: Data(repeating: 0x5A, count: 4_096))
            case .truncated: bytes = bytes.prefix(bytes.count / 2 / 4_096 * 4_096)
            case .foreign:
                try FileManager.default.removeItem(atPath: file)
                try DatabaseQueue(path: file).write { try $0.execute(sql: "CREATE TABLE whales (name TEXT)") }
                return
            case .page:
                // The last pages are records.
                bytes.replaceSubrange((bytes.count - 8_192)..., with: Data(repeating: 0x5A, count: 8_192))
            case .log:
                try FileManager.default.moveItem(atPath: file, toPath: file + "-wal")
                return
            }
            // In the file itself, which another process may have open.
            let handle = try FileHandle(forWritingTo: URL(filePath: file))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }

        /// Whether only reading the whole file finds it.
        var isHidden: Bool { self == .page }
    }

    @Test(arguments: Damage.allCases)
    func `a damaged file is moved aside whole and named, and a new store begun`(damage: Damage) async throws {
        try await fill(200, bytes: 1_000)
        try damage.apply(to: file)
        if damage.isHidden {
            let store = try open()
            let found = try await store.findDamage()
            #expect(found.map(\.code) == [.storeDamaged])
            let error = await #expect(throws: BackplaneError.self) { try await store.read(query, in: "A") }
            #expect(error?.code == .storeDamaged)
            #expect(reports.map(\.code) == [.storeDamaged], "each damage is reported once")
            #expect(try names().allSatisfy { !$0.contains(".damaged-") }, "not while it is open")
            reported.withLock { $0 = [] }
        }

        let bytes = try contents(damage == .log ? "store.sqlite-wal" : "store.sqlite")
        let store = try open()
        try await store.write([Self.save("new")], in: "A")
        #expect(try await store.count(query, in: "A") == 1)
        #expect(reports.map(\.code) == [.storeDamaged])
        let aside = try #require(try names().first { $0.hasPrefix("store.sqlite.damaged-") })
        #expect(try contents(aside) == bytes, "nothing of it is lost")
        let name = aside.hasSuffix("-wal") ? String(aside.dropLast(4)) : aside
        #expect(reports.first?.message.contains(name) == true, "\(reports)")
        #expect(try await store.findDamage().isEmpty)
    }

    @Test(arguments: Damage.allCases)
    func `where it is to be refused it is left as it is`(damage: Damage) async throws {
        try await fill(200, bytes: 1_000)
        try damage.apply(to: file)
        if damage.isHidden { _ = try await open().findDamage() }
        let kept = damage == .log ? "store.sqlite-wal" : "store.sqlite", bytes = try contents(kept)
        let error = #expect(throws: BackplaneError.self) { try open(damaged: .refuse) }
        #expect(error?.code == .storeDamaged && error?.location == file)
        #expect(error?.message.contains("was not changed") == true, "\(String(describing: error))")
        #expect(try contents(kept) == bytes)
        #expect(try names().allSatisfy { !$0.contains(".damaged-") })
    }

    @Test(arguments: [4_096, 0])
    func `the log of a damaged file is moved aside with it`(size: Int) async throws {
        let place = try TestFolder()
        do {
            func open() throws -> SQLiteRecordStore {
                try SQLiteRecordStore(folder: place.path) { Issue.record($0) }
            }
            try await open().write([Self.save("1")], in: "A")
            // As a process that is killed leaves them: the last record is in the log.
            let store = try open()
            try await store.write([Self.save("2")], in: "A")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: place.path + "/store.sqlite" + suffix, toPath: file + suffix)
            }
        }
        let log = try contents("store.sqlite-wal")
        try #require(log.count > 0)
        #expect(truncate(file, size) == 0)
        let refusal = #expect(throws: BackplaneError.self) { try SQLiteRecordStore(reading: folder) }
        #expect(refusal?.code == .storeDamaged)
        #expect(try contents("store.sqlite-wal") == log)
        // Also an older one of the same kind stays.
        try Data("older".utf8).write(to: URL(filePath: file + ".damaged-1"))
        try await open().write([Self.save("3")], in: "A")
        let aside = try names().filter { $0.hasPrefix("store.sqlite.damaged-") }
        #expect(aside.count == 3 && aside[0] == "store.sqlite.damaged-1" && aside[2] == aside[1] + "-wal", "\(aside)")
        #expect(try contents(aside[2]) == log && contents(aside[0]) == Data("older".utf8))
        #expect(try await open().read(query, in: "A").records.map(\.id) == ["3"])
    }

    @Test func `a store of another format is refused and not touched`() async throws {
        try await fill()
        try await DatabaseQueue(path: file).write { try $0.execute(sql: "PRAGMA user_version = 2") }
        let before = try contents()
        let error = #expect(throws: BackplaneError.self) { try open() }
        #expect(error?.code == .storeUnusable)
        #expect(error?.message.contains("format 2, expected 1") == true, "\(String(describing: error))")
        #expect(try contents() == before && reports.isEmpty)
    }

    // MARK: Obstacles

    @Test func `an SQLite without what a store needs is an error that says so`() throws {
        try StoreFile.requireFullText(at: file)
        let error = #expect(throws: BackplaneError.self) {
            try StoreFile.requireFullText(at: file, tokenizer: "of-tomorrow")
        }
        #expect(error?.code == .storeUnusable)
        #expect(error?.message.contains("needs SQLite 3.34 or later with FTS5") == true, "\(String(describing: error))")
    }

    @Test func `a folder in its place is an error that says where`() throws {
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let error = #expect(throws: BackplaneError.self) { try open() }
        #expect(error?.code == .storeUnusable && error?.location == file)
    }

    @Test func `a file that may not be written is an error that says where, and stays as it is`() async throws {
        try await fill()
        let before = try contents()
        // The rights of a file do not bind the superuser; a read-only mount binds everybody.
        guard mount("none", folder, nil, UInt(MS_BIND), nil) == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        try #require(mount("none", folder, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        let error = #expect(throws: BackplaneError.self) { try open() }
        #expect(error?.code == .storeUnusable && error?.location == file)
        #expect(error?.message.contains("read-only") == true)
        #expect(try contents() == before)
    }

    @Test func `a disk without room is an error that says so, and what was kept before is there`() async throws {
        guard mount("none", folder, "tmpfs", 0, "size=512k") == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        let store = try open()
        try await store.write([Self.save("1")], in: "A")
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

    @Test func `a disk that is full in any step costs that step alone`() async throws {
        let indexes = [
            IndexDefinition("year"), IndexDefinition("title", isUnique: true),
            IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(.substrings)),
        ]
        // Words enough for an index of many pages.
        func change(_ number: Int) -> RecordChange {
            let title = "title " + (0..<200).map { "\(number * 1_000 + $0 * 37)" }.joined(separator: " ")
            return .save(
                collection: "books",
                StoredRecord(id: "\(number)", value: Array(#"{"year":\#(number),"title":"\#(title)"}"#.utf8)))
        }
        var ended: Set<String> = []
        for pages in stride(from: 1, through: 63, by: 2) {
            let place = try TestFolder()
            var limited = StoreFile(folder: place.path)
            limited.durability = .normal
            limited.prepare = { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
            var expected: Set<String> = [], step = "open"
            do {
                let store = try SQLiteRecordStore(limited) { Issue.record($0) }
                step = "write"
                try await store.write((0..<5).map(change), in: "A")
                expected = Set((0..<5).map { "\($0)" })
                step = "define"
                try await store.define(CollectionDefinition("books", indexes: indexes), in: "A")
                step = "index"
                for number in 5..<10 {
                    try await store.write([change(number)], in: "A")
                    expected.insert("\(number)")
                }
                try await store.write([.deleteAll(collection: "books"), change(10)], in: "A")
                (expected, step) = (["10"], "done")
            } catch {
                #expect(
                    error.code == .storeUnusable && error.message.contains("the disk is full"), "\(pages): \(error)")
            }
            ended.insert(step)
            let store = try SQLiteRecordStore(StoreFile(folder: place.path)) { Issue.record($0) }
            #expect(try await store.findDamage().isEmpty, "\(pages)")
            try await store.define(CollectionDefinition("books", indexes: indexes), in: "A")
            for selection in [
                .range(RecordRange()), .range(RecordRange(of: "year")), .range(RecordRange(of: "title")),
                .search(index: "words", text: "title"),
            ] as [RecordQuery.Selection] {
                let page = try await store.read(RecordQuery(collection: "books", selection), in: "A")
                #expect(Set(page.records.map(\.id)) == expected, "\(pages): \(selection)")
            }
        }
        #expect(ended == ["open", "write", "define", "index", "done"], "each step has had too little room once")
    }
}
