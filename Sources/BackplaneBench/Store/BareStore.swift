import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import FoundationEssentials
import GRDB

/// The baseline of the store suite: GRDB alone, with a store's tables and statements.
///
/// Records are encoded and decoded by Foundation's coders, as a program without Backplane would.
final class BareStore: Sendable {
    private let pool: DatabasePool
    private let collection, index: Int64

    /// Opens a store's file, created by ``SQLiteRecordStore`` with a collection of books.
    init(folder: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_size_limit = \(16 << 20)") }
        pool = try DatabasePool(path: folder + "/store.sqlite", configuration: configuration)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        (collection, index) = try pool.read { db in
            let row = try GRDB.Row.fetchOne(db, sql: "SELECT collection, number FROM indexes WHERE name = 'number'")
            guard let row else { throw MissingCollection() }
            return (row[0], row[1])
        }
    }

    struct MissingCollection: Error {}

    /// The settings that determine the cost of a write.
    var settings: StoreDatabaseSettings {
        get throws { try pool.writeWithoutTransaction { try StoreDatabaseSettings($0) } }
    }

    func save(_ books: [BenchBook]) async throws {
        let collection = collection, index = index
        try await pool.write { db in
            let encoder = JSONEncoder()
            let last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT MAX(change) FROM collections")) ?? 0
            let row = try GRDB.Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT number, change, trimmed, logged, count FROM collections WHERE namespace = ? AND name = ?
                        """), arguments: [BenchBook.namespace, BenchBook.collection])
            _ = try GRDB.Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT number, name, paths, is_unique, state, text FROM indexes WHERE collection = ? AND state < 2
                        """), arguments: [collection])
            var number = last, count: Int = row?[4] ?? 0, logged: Int = row?[3] ?? 0, trimmed: Int64 = row?[2] ?? 0
            for book in books {
                number += 1
                let id = Data(book.id.utf8), value = try encoder.encode(book)
                _ = try GRDB.Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT number, version, checksum, value FROM records WHERE collection = ? AND id = ?"),
                    arguments: [collection, id])
                try db.cachedStatement(
                    sql: "INSERT INTO records (collection, id, version, checksum, value) VALUES (?, ?, ?, ?, ?)"
                ).execute(arguments: [collection, id, number, 0, value])
                try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO entries (\"index\", key, id, record) VALUES (?, ?, ?, ?)"
                ).execute(arguments: [index, Self.key(book.number), id, db.lastInsertedRowID])
                try db.cachedStatement(
                    sql: "INSERT INTO changes (collection, number, kind, id) VALUES (?, ?, ?, ?)"
                ).execute(arguments: [collection, number, 1, id])
            }
            (count, logged) = (count + books.count, logged + books.count)
            if logged >= RecordLimits.log + RecordLimits.logSurplus {
                let cut = try Int64.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT number FROM changes WHERE collection = ? ORDER BY number LIMIT 1 OFFSET ?"),
                    arguments: [collection, logged - RecordLimits.log - 1])
                try db.cachedStatement(sql: "DELETE FROM changes WHERE collection = ? AND number <= ?").execute(
                    arguments: [collection, cut])
                (trimmed, logged) = (cut ?? trimmed, logged - db.changesCount)
            }
            try db.cachedStatement(
                sql: "UPDATE collections SET change = ?, trimmed = ?, logged = ?, count = ? WHERE number = ?"
            ).execute(arguments: [number, trimmed, logged, count, collection])
        }
    }

    func fetch(_ id: String) async throws -> BenchBook? {
        let collection = collection
        return try await pool.read { db in
            _ = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT MAX(change) FROM collections WHERE namespace = ?"),
                arguments: [BenchBook.namespace])
            _ = try GRDB.Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT number, change, trimmed, logged, count FROM collections WHERE namespace = ? AND name = ?
                        """), arguments: [BenchBook.namespace, BenchBook.collection])
            let row = try GRDB.Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT id, version, checksum, value FROM records WHERE collection = ? AND id = ?"),
                arguments: [collection, Data(id.utf8)])
            return try row.map { try JSONDecoder().decode(BenchBook.self, from: $0[3] as Data) }
        }
    }

    /// Returns the bytes by which a number is sorted.
    private static func key(_ number: Int) -> Data {
        Data([32] + withUnsafeBytes(of: (Double(number).bitPattern | 1 << 63).bigEndian, Array.init) + [0x80, 0])
    }
}
