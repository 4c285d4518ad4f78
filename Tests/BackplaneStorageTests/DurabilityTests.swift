import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import GRDB
import Glibc
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneSQLite

/// The promise that what was acknowledged is there, and what a store does to keep it.
@Suite(.timeLimit(.minutes(10)))
final class DurabilityTests: Sendable {
    private let files: TestFolder
    private var folder: String { files.path }
    private var file: String { folder + "/store.sqlite" }
    private let reported = Mutex<[BackplaneError]>([])

    init() throws { files = try TestFolder() }

    private func open(_ durability: StoreDurability = .full) throws -> SQLiteRecordStore {
        try SQLiteRecordStore(folder: folder, durability: durability) { [weak self] error in
            self?.reported.withLock { $0.append(error) }
        }
    }

    private func save(_ id: String, _ count: Int = 2, byte: UInt8 = 65) -> RecordChange {
        .save(collection: "books", StoredRecord(id: id, value: [UInt8](repeating: byte, count: count)))
    }

    @Test func `a migration that is killed goes on, and migrates each record once`() async throws {
        let count = Nightly.count(3_000, night: 8_000)
        try StoreProcess("fill", folder, "\(count)").end()
        let seed = RunSeed.value
        var random = SeededNumbers(seed), acknowledged = 0, kills = 0, isDone = false
        while !isDone {
            try #require(kills < 100, "seed \(seed): there is no end")
            let process = try StoreProcess("migrate", folder)
            // The first one is killed while nearly everything is left, however slowly this process goes on.
            let isFirst = kills == 0, wanted = isFirst ? 1 : Int.random(in: 0...2, using: &random)
            var text = ""
            while !isDone, text.split(separator: "\n").count < wanted {
                let more = process.read()
                try #require(!more.isEmpty, "the writer ended by itself: \(text)")
                text += more
                isDone = text.contains("done")
            }
            if !isDone, !isFirst { usleep(UInt32.random(in: 0..<60_000, using: &random)) }
            process.end(SIGKILL)
            text += process.readToEnd()
            isDone = text.contains("done")
            if isDone, kills == 0 {
                // This process was slower to kill it than it was to end: another try with a store of the first form.
                for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    try FileManager.default.removeItem(atPath: folder + "/" + name)
                }
                try StoreProcess("fill", folder, "\(count)").end()
                isDone = false
                continue
            }
            kills += isDone ? 0 : 1
            #expect(!text.contains("error"), "\(text)")
            acknowledged += text.split(separator: "\n").compactMap { Int($0) }.reduce(0, +)

            let store = try open()
            var query = RecordQuery(collection: "books"), old = 0, new = 0
            repeat {
                let page = try await store.read(query, in: "A")
                for record in page.records {
                    let json = String(decoding: record.value, as: UTF8.self)
                    if json == #"{"id":"\#(record.id)","author":"Author \#(record.id)"}"# {
                        old += 1
                    } else {
                        new += 1
                        #expect(json.hasPrefix(#"{"@schema":2,"#) && json.contains(#""migrations":1"#), "\(json)")
                        #expect(json.contains(#""authors":["Author \#(record.id)"]"#), "\(json)")
                    }
                }
                query.after = page.next
            } while query.after != nil
            #expect(old + new == count, "seed \(seed), kill \(kills)")
            // One batch may have been written and not told.
            #expect(new >= acknowledged && new <= acknowledged + 500 * (kills + 1), "seed \(seed), kill \(kills)")
            if isDone { #expect(old == 0) }
        }
        #expect(kills > 0, "seed \(seed): nobody was killed")
        let store = try open()
        let index = RecordQuery(collection: "books", .range(RecordRange(of: "migrations", equal: [1])))
        #expect(try await store.count(index, in: "A") == count)
    }

    @Test func `what was acknowledged is there after a kill at any moment, and no batch is half there`() async throws {
        let seed = RunSeed.value
        var random = SeededNumbers(seed), next = 0
        for kill in 0..<Nightly.count(3, night: 90) {
            let process = try StoreProcess("write", folder, "\(next)")
            let wanted = next + Int.random(in: 0..<12, using: &random)
            var text = "", acknowledged = next - 1
            while acknowledged < wanted {
                let more = process.read()
                try #require(!more.isEmpty, "the writer ended by itself: \(text)")
                text += more
                acknowledged = text.split(separator: "\n").last.flatMap { Int($0) } ?? acknowledged
            }
            usleep(UInt32.random(in: 0..<3_000, using: &random))
            process.end(SIGKILL)
            text += process.readToEnd()
            #expect(!text.contains("error"), "\(text)")
            acknowledged = text.split(separator: "\n").last.flatMap { Int($0) } ?? acknowledged

            let store = try open()
            let counts = try await store.collections(in: "A").map(\.count)
            try #require(counts.count == 2 && counts[0] == counts[1], "kill \(kill), seed \(seed): \(counts)")
            try #require(counts[0] > acknowledged, "kill \(kill), seed \(seed): \(acknowledged) was acknowledged")
            let last = try await store.read(RecordQuery(collection: "one", ids: ["\(counts[0] - 1)"]), in: "A")
            #expect(last.records.map(\.value) == [Array(#"{"number":\#(counts[0] - 1)}"#.utf8)])
            next = counts[0]
        }
        #expect(try await open().findDamage().isEmpty)
        #expect(reported.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [(StoreDurability.full, 2), (.normal, 1)])
    func `the durability is that of the connection that writes`(durability: StoreDurability, expected: Int) throws {
        let store = try open(durability)
        #expect(
            try store.database.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == expected)
        #expect(
            try store.database.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test func `every write waits for the disk, unless less is asked for`() throws {
        func synchronizations(_ durability: String) throws -> Int {
            try? FileManager.default.removeItem(atPath: folder + "/" + durability)
            try FileManager.default.createDirectory(
                atPath: folder + "/" + durability, withIntermediateDirectories: false)
            let process = try StoreProcess("count", folder + "/" + durability, durability, "50")
            defer { process.end() }
            return try #require(Int(process.readToEnd().trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        let (full, normal) = (try synchronizations("full"), try synchronizations("normal"))
        #expect(full >= 50, "one wait for each of 50 writes")
        #expect(normal < 10, "only when the log is moved into the file")
    }

    @Test func `opening reads little of a large file`() async throws {
        do {
            let store = try open()
            for number in 0..<64 { try await store.write([save("\(number)", 1 << 20)], in: "A") }
        }
        let process = try StoreProcess("open", folder)
        defer { process.end() }
        let read = try #require(Int(process.readToEnd().trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(read > 0 && read < 4 << 20, "of 64 MB")
    }

    @Test func `the write-ahead log is bounded, also after a reader that kept it`() async throws {
        let store = try open(.normal)
        func logSize() throws -> Int {
            var status = stat()
            let result = stat(file + "-wal", &status)
            try #require(result == 0)
            return Int(status.st_size)
        }
        for number in 0..<40 { try await store.write([save("\(number)", 2 << 20)], in: "A") }
        let usual = try logSize()
        #expect(usual > 0 && usual < 3 * StoreFile.logLimit)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: file, configuration: configuration)
        try reader.inDatabase { db in
            try db.beginTransaction(.deferred)
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM collections")
        }
        // Other bytes than before, since SQLite leaves out pages that stay as they are.
        for number in 0..<24 { try await store.write([save("\(number)", 2 << 20, byte: 66)], in: "A") }
        #expect(try logSize() > 2 * StoreFile.logLimit, "the reader needs it")
        try reader.inDatabase { try $0.commit() }
        for _ in 0..<20 where try logSize() > StoreFile.logLimit { try await store.write([save("1")], in: "A") }
        #expect(try logSize() <= StoreFile.logLimit)
        #expect(try await store.count(RecordQuery(collection: "books"), in: "A") == 40)
    }
}
