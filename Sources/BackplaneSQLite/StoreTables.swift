#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The tables of a store.
///
/// - `collections`: a row for each collection, which is never deleted. `change` is the number of the last change,
///   `changed` its time in seconds since 1970, `trimmed` the number of the last change that is no longer in the log,
///   `logged` the length of the log, `count` the number of records.
/// - `records`: the records. Ids are stored as bytes, because strings would end at a zero byte.
/// - `indexes`: the declared indexes. `state` is an ``IndexState``, `progress` the id up to which an index was built.
///   `text` holds the full-text settings in the form of ``BackplaneStorage/TextIndexing/stored``; `NULL` for an index
///   of values.
/// - `entries`: a row for each record in each index, in the order of the keys and then of the ids. `record` is the
///   record's row, so a page of an index costs one lookup per record.
/// - `text_` and the number of an index: the words of a full-text index, an FTS5 table (``FullTextTable``).
/// - `changes`: the log of each collection.
enum StoreTables {
    static let sql = """
        CREATE TABLE collections (
            number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL, change INTEGER NOT NULL,
            changed INTEGER NOT NULL, trimmed INTEGER NOT NULL, logged INTEGER NOT NULL, count INTEGER NOT NULL,
            UNIQUE (namespace, name)
        );
        CREATE TABLE records (
            number INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL,
            value BLOB NOT NULL, UNIQUE (collection, id)
        );
        CREATE TABLE indexes (
            number INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name TEXT NOT NULL, paths TEXT NOT NULL,
            is_unique INTEGER NOT NULL, state INTEGER NOT NULL, progress BLOB NOT NULL, text TEXT
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

        """
}

/// The state of an index.
enum IndexState: Int {
    /// Queries use the index.
    case ready = 0
    /// Changes are inserted, and the existing records are being inserted.
    case building = 1
    /// The entries of the index are being deleted, and it no longer has a name.
    case removing = 2
}

/// The row of a collection, and its indexes.
struct StoredCollection {
    let name: String
    let number: Int64
    var change, trimmed: Int64
    var logged, count: Int
    /// The indexes whose entries are kept up to date.
    var indexes: [StoredIndex] = []

    /// Reads a collection, or returns `nil` if there is none.
    init?(_ name: String, in namespace: String, _ db: Database, withIndexes: Bool) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT number, change, trimmed, logged, count FROM collections WHERE namespace = ? AND name = ?")
        guard let row = try Row.fetchOne(statement, arguments: [namespace, name]) else { return nil }
        self.name = name
        (number, change, trimmed, logged, count) = (row[0], row[1], row[2], row[3], row[4])
        if withIndexes { indexes = try StoredIndex.all(of: number, in: db) }
    }

    /// Creates a collection.
    init(creating name: String, in namespace: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO collections (namespace, name, change, changed, trimmed, logged, count)
                VALUES (?, ?, 0, 0, 0, 0, 0)
                """
        ).execute(arguments: [namespace, name])
        (self.name, number) = (name, db.lastInsertedRowID)
        (change, trimmed, logged, count) = (0, 0, 0, 0)
    }

    /// Creates the value for a collection without a row.
    init(missing name: String) {
        (self.name, number) = (name, -1)
        (change, trimmed, logged, count) = (0, 0, 0, 0)
    }

    /// Writes the row after changes, and truncates the log.
    mutating func save(to db: Database) throws {
        if logged >= RecordLimits.log + RecordLimits.logSurplus {
            let statement = try db.cachedStatement(
                sql: "SELECT number FROM changes WHERE collection = ? ORDER BY number LIMIT 1 OFFSET ?")
            let last = try Int64.fetchOne(statement, arguments: [number, logged - RecordLimits.log - 1])
            try db.cachedStatement(sql: "DELETE FROM changes WHERE collection = ? AND number <= ?").execute(
                arguments: [number, last])
            (trimmed, logged) = (last ?? trimmed, logged - db.changesCount)
        }
        try db.cachedStatement(
            sql: "UPDATE collections SET change = ?, changed = ?, trimmed = ?, logged = ?, count = ? WHERE number = ?"
        ).execute(arguments: [change, Int64(time(nil)), trimmed, logged, count, number])
    }
}

/// The row of an index.
struct StoredIndex {
    let number: Int64
    let definition: IndexDefinition
    let state: IndexState
    /// The table of a full-text index; `nil` for an index of values.
    let fullText: FullTextTable?
    private let paths: [[[UInt8]]]

    private init(_ row: Row) throws {
        let paths = try Self.paths(row.text(at: 2))
        number = row[0]
        let text = (row[5] as String?).map { TextIndexing(stored: $0) ?? TextIndexing() }
        definition = IndexDefinition(paths: paths, name: row[1], isUnique: row[3], text: text)
        fullText = text.map { [number] in FullTextTable(number, paths, $0) }
        state = IndexState(rawValue: row[4]) ?? .removing
        self.paths = IndexKey.names(of: paths)
    }

    /// Reads the stored paths, a JSON array of strings.
    ///
    /// Every write reads them. Nearly all contain no escapes, and need no decoder.
    static func paths(_ json: String) throws -> [String] {
        guard !json.utf8.contains(UInt8(ascii: "\\")), json.hasPrefix("[\""), json.hasSuffix("\"]") else {
            return try JSONDecoder().decode([String].self, from: Data(json.utf8))
        }
        return json.dropFirst(2).dropLast(2).split(separator: "\",\"", omittingEmptySubsequences: false).map(
            String.init)
    }

    /// Returns the indexes of a collection whose entries are kept up to date.
    static func all(of collection: Int64, in db: Database) throws -> [StoredIndex] {
        let statement = try db.cachedStatement(
            sql: "SELECT number, name, paths, is_unique, state, text FROM indexes WHERE collection = ? AND state < 2")
        return try Row.fetchAll(statement, arguments: [collection]).map { try StoredIndex($0) }
    }

    /// Returns an index of a collection that queries may use.
    ///
    /// - Parameter isOfTexts: Whether the index is one of texts rather than of values.
    /// - Throws: `store.unindexed`.
    static func named(_ name: String, isOfTexts: Bool, of collection: StoredCollection, in db: Database) throws
        -> StoredIndex
    {
        let indexes = try all(of: collection.number, in: db).filter {
            $0.state == .ready && ($0.fullText != nil) == isOfTexts
        }
        if let index = indexes.first(where: { $0.definition.name.utf8.elementsEqual(name.utf8) }) { return index }
        throw BackplaneError.unindexed(collection.name, name, known: indexes.map(\.definition.name))
    }

    /// Writes the state of the index.
    func set(_ state: IndexState, in db: Database) throws {
        try db.execute(sql: "UPDATE indexes SET state = ? WHERE number = ?", arguments: [state.rawValue, number])
    }

    func key(of value: [UInt8]) -> [UInt8] { IndexKey.bytes(in: value, at: paths) }

    /// Inserts a record that has no entry with another key.
    func enter(_ key: [UInt8], id: Data, record: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO entries (\"index\", key, id, record) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [number, Data(key), id, record])
    }

    /// Removes the entry of a record.
    func remove(_ key: [UInt8], id: Data, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM entries WHERE \"index\" = ? AND key = ? AND id = ?").execute(
            arguments: [number, Data(key), id])
    }
}

extension Row {
    /// Returns a copy of a column's bytes.
    func bytes(at index: Int) throws -> [UInt8] {
        try withUnsafeData(atIndex: index) { $0?.withUnsafeBytes { Array($0) } ?? [] }
    }

    /// Returns a column's bytes as UTF-8 text, including any zeros.
    func text(at index: Int) throws -> String {
        try withUnsafeData(atIndex: index) { $0?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? "" }
    }
}
#endif
