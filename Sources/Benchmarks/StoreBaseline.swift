import Foundation
import GRDB

/// The baseline of the store: GRDB alone, which stores records with a version, an index and a log of changes.
///
/// Records are encoded and decoded by Foundation's coders, as a program without Backplane would.
final class BareStore: Sendable {
    private let pool: DatabasePool

    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        pool = try DatabasePool(path: folder + "/bare.sqlite")
        try pool.writeWithoutTransaction { db in
            // A durable save, as in a store.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(
                sql: """
                    CREATE TABLE records (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
                        version INTEGER NOT NULL, value BLOB NOT NULL);
                    CREATE TABLE entries (key INTEGER NOT NULL, id BLOB NOT NULL, record INTEGER NOT NULL,
                        PRIMARY KEY (key, id)) WITHOUT ROWID;
                    CREATE TABLE changes (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id BLOB NOT NULL);
                    """)
        }
    }

    func save(_ books: [BenchBook]) async throws {
        try await pool.write { db in
            let encoder = JSONEncoder()
            var number = try Int64.fetchOne(db.cachedStatement(sql: "SELECT MAX(number) FROM changes")) ?? 0
            for book in books {
                number += 1
                let id = Data(book.id.utf8), value = try encoder.encode(book)
                _ = try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT version FROM records WHERE id = ?"), arguments: [id])
                try db.cachedStatement(sql: "INSERT INTO records (id, version, value) VALUES (?, ?, ?)").execute(
                    arguments: [id, number, value])
                try db.cachedStatement(sql: "INSERT INTO entries (key, id, record) VALUES (?, ?, ?)").execute(
                    arguments: [book.number, id, db.lastInsertedRowID])
                try db.cachedStatement(sql: "INSERT INTO changes (number, kind, id) VALUES (?, 1, ?)").execute(
                    arguments: [number, id])
            }
        }
    }

    func fetch(_ id: String) async throws -> BenchBook? {
        try await pool.read { db in
            let value = try Data.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM records WHERE id = ?"), arguments: [Data(id.utf8)])
            return try value.map { try JSONDecoder().decode(BenchBook.self, from: $0) }
        }
    }

    /// Returns the records from a number on in the order of the index, without decoding them.
    func page(from number: Int, limit: Int) async throws -> [Data] {
        try await pool.read { db in
            try Data.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT r.value FROM entries e CROSS JOIN records r ON r.number = e.record
                        WHERE e.key >= ? ORDER BY e.key, e.id LIMIT ?
                        """), arguments: [number, limit])
        }
    }
}
