#if Engines
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The tables of a store.
///
/// - `collections`: a row for each collection, which is never deleted. `change` is the number of the last change,
///   `trimmed` that of the last change that is no longer in the log, `logged` the length of the log, `count` the number
///   of records. `UNIQUE` stores a second copy of the names in its index, which a salvage can also read.
/// - `records`: the records. Ids are stored as bytes, because strings would end at a zero byte. `checksum` is
///   ``RecordChecksum``.
/// - `indexes`: the declared indexes. `state` is an ``IndexState``, `progress` the id up to which an index was built.
///   `text` holds the full-text settings in the form of ``BackplaneStorage/TextIndexing/stored``; `NULL` for an index
///   of values.
/// - `entries`: a row for each record in each index, in the order of the keys and then of the ids. `record` is the
///   record's row, so a page of an index costs one lookup per record.
/// - `text_` and the number of an index: the words of a full-text index, an FTS5 table (``FullTextTable``). `removed_`
///   and the number: the rows of one that is being deleted.
/// - `changes`: the log of each collection.
enum StoreTables {
    /// The name of the migration from the table `record` of the first version to these tables.
    static let migration = "versioned-records"
    /// The name of the migration that adds full-text indexes.
    ///
    /// FTS5 finds a record by the number of its row, which the table of the first version did not have: it was
    /// `WITHOUT ROWID`.
    static let textMigration = "full-text"

    /// The migrations that create the tables of a store.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("records") { db in
            try db.execute(
                sql: """
                    CREATE TABLE record (
                        namespace TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (namespace, collection, id)
                    ) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration(migration) { db in
            try create(in: db)
            try adoptUnversionedRecords(in: db)
        }
        migrator.registerMigration(textMigration) { db in
            try db.execute(sql: "ALTER TABLE indexes ADD COLUMN text TEXT")
        }
        return migrator
    }

    private static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE collections (
                    number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL,
                    change INTEGER NOT NULL, trimmed INTEGER NOT NULL, logged INTEGER NOT NULL, count INTEGER NOT NULL,
                    UNIQUE (namespace, name)
                );
                CREATE TABLE records (
                    number INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id BLOB NOT NULL,
                    version INTEGER NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL,
                    UNIQUE (collection, id)
                );
                CREATE TABLE indexes (
                    number INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name TEXT NOT NULL, paths TEXT NOT NULL,
                    is_unique INTEGER NOT NULL, state INTEGER NOT NULL, progress BLOB NOT NULL
                );
                CREATE INDEX indexes_of_collection ON indexes (collection);
                CREATE TABLE entries (
                    "index" INTEGER NOT NULL, key BLOB NOT NULL, id BLOB NOT NULL, record INTEGER NOT NULL,
                    PRIMARY KEY ("index", key, id)
                ) WITHOUT ROWID;
                CREATE TABLE changes (
                    collection INTEGER NOT NULL, number INTEGER NOT NULL, kind INTEGER NOT NULL, id BLOB NOT NULL,
                    PRIMARY KEY (collection, number)
                ) WITHOUT ROWID;
                """)
    }

    /// Moves the records of the first version, whose order by id becomes the order of their versions.
    private static func adoptUnversionedRecords(in db: Database) throws {
        var adoption = RecordAdoption(db)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT CAST(namespace AS BLOB), CAST(collection AS BLOB), CAST(id AS BLOB), value FROM record
                ORDER BY namespace, collection, record.id
                """)
        while let row = try rows.next() {
            try adoption.add(
                StoredRecord(id: row.text(at: 2), value: row.bytes(at: 3)), collection: row.text(at: 1),
                namespace: row.text(at: 0))
        }
        try adoption.finish()
        try db.execute(sql: "DROP TABLE record")
    }

    /// Returns a description of a newer version's tables, or `nil` if this version knows all of them.
    static func unknownMigrations(in db: Database) throws -> String? {
        guard try db.tableExists("grdb_migrations") else { return nil }
        let unknown = try migrator.appliedIdentifiers(db).subtracting(migrator.migrations).sorted()
        return unknown.isEmpty ? nil : unknown.map { "`\($0)`" }.joined(separator: ", ")
    }
}

/// The state of an index.
enum IndexState: Int {
    /// Queries use it.
    case ready = 0
    /// Changes are inserted, and the existing records are being inserted.
    case building = 1
    /// Its entries are being deleted, and it no longer has a name.
    case removing = 2
    /// It is declared, but the machine's SQLite lacks its tokenizer, so it has neither entries nor a table.
    case unsupported = 3
}
#endif
