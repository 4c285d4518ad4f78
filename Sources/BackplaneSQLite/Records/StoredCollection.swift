#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

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

    /// Abandons the full-text indexes that SQLite cannot update; where it can, they are rebuilt.
    mutating func giveUpIndexes(without support: FullTextSupport, in db: Database) throws {
        for index in indexes where !support.includes(index.definition.text) {
            try db.execute(
                sql: """
                    INSERT INTO indexes (collection, name, paths, is_unique, state, progress, text)
                    SELECT collection, name, paths, is_unique, ?2, x'', text FROM indexes WHERE number = ?1
                    """,
                arguments: [index.number, IndexState.unsupported.rawValue])
            try index.set(.removing, in: db)
        }
        indexes.removeAll { !support.includes($0.definition.text) }
    }

    /// Creates a collection.
    init(creating name: String, in namespace: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO collections (namespace, name, change, trimmed, logged, count) VALUES (?, ?, 0, 0, 0, 0)"
        ).execute(arguments: [namespace, name])
        (self.name, number) = (name, db.lastInsertedRowID)
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
            sql: "UPDATE collections SET change = ?, trimmed = ?, logged = ?, count = ? WHERE number = ?"
        ).execute(arguments: [change, trimmed, logged, count, number])
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
        let text = Self.text(row[5])
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

    /// Reads the full-text settings; those of a later version are replaced by defaults.
    static func text(_ stored: String?) -> TextIndexing? {
        stored.map { TextIndexing(stored: $0) ?? TextIndexing() }
    }

    /// Returns the indexes of a collection whose entries are kept up to date.
    static func all(of collection: Int64, in db: Database) throws -> [StoredIndex] {
        try all(of: collection, if: "state < 2", in: db)
    }

    /// Returns the indexes of a collection that have a name.
    static func declared(of collection: Int64, in db: Database) throws -> [StoredIndex] {
        try all(of: collection, if: "state <> 2", in: db)
    }

    private static func all(of collection: Int64, if condition: String, in db: Database) throws -> [StoredIndex] {
        let statement = try db.cachedStatement(
            sql:
                "SELECT number, name, paths, is_unique, state, text FROM indexes WHERE collection = ? AND \(condition)")
        return try Row.fetchAll(statement, arguments: [collection]).map { try StoredIndex($0) }
    }

    /// Returns the full-text index of a collection that queries may use.
    ///
    /// - Throws: `store.unindexed`; `store.unsupported`.
    static func ofTexts(
        _ name: String, of collection: StoredCollection, _ support: FullTextSupport, in db: Database
    ) throws -> FullTextTable {
        let indexes = try declared(of: collection.number, in: db).filter { $0.state != .building }
        for index in indexes where index.definition.name.utf8.elementsEqual(name.utf8) {
            guard let text = index.definition.text, let table = index.fullText else { continue }
            try support.require(text, of: name, in: collection.name)
            if index.state == .ready { return table }
        }
        let known = indexes.filter { $0.state == .ready && $0.fullText != nil }.map(\.definition.name)
        throw BackplaneError.unindexed(collection.name, name, known: known)
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
    ///
    /// - Parameter key: The key of the entry; `nil` if unknown, in which case the whole index is searched.
    func remove(_ key: [UInt8]?, id: Data, in db: Database) throws {
        guard let key else {
            return try db.execute(
                sql: "DELETE FROM entries WHERE \"index\" = ? AND id = ?", arguments: [number, id])
        }
        try db.cachedStatement(sql: "DELETE FROM entries WHERE \"index\" = ? AND key = ? AND id = ?").execute(
            arguments: [number, Data(key), id])
    }
}
#endif
