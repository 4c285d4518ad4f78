#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The construction of a collection's indexes from a definition, in steps of one short transaction each.
///
/// Other writers can write between two steps. Each step records its progress in the table `indexes`, so that after a
/// kill, the next process continues.
struct IndexBuilding {
    let definition: CollectionDefinition
    let namespace: String
    /// The maximum number of records that one step inserts, and of entries that one step deletes.
    private static let stepSize = 2_000

    /// Returns whether the collection already has the indexes, and none is being built or deleted.
    ///
    /// A definition without indexes creates no collection.
    func isDone(in db: Database) throws -> Bool {
        guard let collection = try StoredCollection(definition.name, in: namespace, db, withIndexes: false) else {
            return definition.indexes.isEmpty
        }
        let indexes = try StoredIndex.all(of: collection.number, in: db)
        guard try removed(from: collection, in: db) == nil, indexes.count == definition.indexes.count else {
            return false
        }
        return indexes.allSatisfy { index in
            index.state == .ready && definition.indexes.contains { $0.isSame(as: index.definition) }
        }
    }

    /// Adds rows for new indexes, and marks the indexes that are no longer declared.
    func begin(in db: Database) throws {
        let collection =
            try StoredCollection(definition.name, in: namespace, db, withIndexes: true)
            ?? StoredCollection(creating: definition.name, in: namespace, db)
        for index in collection.indexes where !definition.indexes.contains(where: { $0.isSame(as: index.definition) }) {
            try index.set(.removing, in: db)
        }
        for index in definition.indexes
        where !collection.indexes.contains(where: { $0.definition.isSame(as: index) }) {
            let paths = String(decoding: try JSONEncoder().encode(index.paths), as: UTF8.self)
            try db.execute(
                sql: """
                    INSERT INTO indexes (collection, name, paths, is_unique, state, progress, text)
                    VALUES (?, ?, ?, ?, ?, x'', ?)
                    """,
                arguments: [
                    collection.number, index.name, paths, index.isUnique,
                    IndexState.building.rawValue, index.text?.stored,
                ])
            if let text = index.text {
                try FullTextTable(db.lastInsertedRowID, index.paths, text).create(in: db)
            }
        }
    }

    /// Performs one step.
    ///
    /// - Returns: `true` if nothing is left to do.
    /// - Throws: `store.duplicate` if records have the same values in an index that is to be unique, after
    ///   ``giveUp(in:)``.
    func step(in db: Database) throws -> Bool {
        guard let collection = try StoredCollection(definition.name, in: namespace, db, withIndexes: true) else {
            return true
        }
        if let index = collection.indexes.first(where: { $0.state == .building }) {
            try build(index, of: collection, in: db)
            return false
        }
        guard let index = try removed(from: collection, in: db) else { return true }
        try db.execute(
            sql: """
                DELETE FROM entries WHERE ("index", key, id) IN
                (SELECT "index", key, id FROM entries WHERE "index" = ?1 LIMIT ?2)
                """,
            arguments: [index, Self.stepSize])
        if try db.changesCount < Self.stepSize && FullTextTable.drop(index, atMost: Self.stepSize, in: db) {
            try db.execute(sql: "DELETE FROM indexes WHERE number = ?", arguments: [index])
        }
        return false
    }

    /// Returns the number of an index that is to be deleted.
    private func removed(from collection: StoredCollection, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT number FROM indexes WHERE collection = ? AND state = ?",
            arguments: [collection.number, IndexState.removing.rawValue])
    }

    private func build(_ index: StoredIndex, of collection: StoredCollection, in db: Database) throws {
        let progress = try Row.fetchOne(
            db, sql: "SELECT progress FROM indexes WHERE number = ?", arguments: [index.number])
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT number, id, value FROM records WHERE collection = ? AND id > ? ORDER BY id LIMIT ?
                """,
            arguments: [collection.number, Data(progress?.bytes(at: 0) ?? []), Self.stepSize])
        var last: Data?, size = 0
        while size < RecordLimits.pageBytes, let row = try rows.next() {
            let id = Data(try row.bytes(at: 1)), value = try row.bytes(at: 2)
            if let table = index.fullText {
                try table.enter(table.texts(of: value), record: row[0], in: db)
            } else {
                try index.enter(index.key(of: value), id: id, record: row[0], in: db)
            }
            last = id
            size += value.count
        }
        if let last {
            try db.execute(sql: "UPDATE indexes SET progress = ? WHERE number = ?", arguments: [last, index.number])
        } else {
            if index.definition.isUnique { try requireUniqueness(of: index, in: db) }
            try index.set(.ready, in: db)
        }
    }

    private func requireUniqueness(of index: StoredIndex, in db: Database) throws {
        let keys = try Row.fetchCursor(
            db, sql: "SELECT key FROM entries WHERE \"index\" = ? GROUP BY key HAVING COUNT(*) > 1",
            arguments: [index.number])
        while let row = try keys.next() {
            let key = try row.bytes(at: 0)
            if IndexKey.containsNull(key) { continue }
            let ids = try Row.fetchAll(
                db, sql: "SELECT id FROM entries WHERE \"index\" = ? AND key = ? ORDER BY id LIMIT 2",
                arguments: [index.number, Data(key)]
            ).map { try $0.text(at: 0) }
            throw BackplaneError.duplicate(definition.name, index: index.definition.name, ids[0], ids[1])
        }
    }

    /// Removes the index that a step has found not to be unique.
    func giveUp(in db: Database) throws {
        guard
            let index = try StoredCollection(definition.name, in: namespace, db, withIndexes: true)?.indexes.first(
                where: {
                    $0.state == .building
                })
        else { return }
        try index.set(.removing, in: db)
    }
}
#endif
