#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// One write of a batch, within a transaction that an error rolls back.
struct RecordWriter {
    private let db: Database
    private let namespace: String
    /// The collections that have been looked up, keyed by the bytes of their names.
    private var collections: [[UInt8]: StoredCollection] = [:]
    private var changed: Set<[UInt8]> = []
    /// The number of the last change in the store.
    private var last: Int64
    /// The new keys of unique indexes, which are compared after all changes.
    private var newKeys: [(collection: String, index: StoredIndex, key: [UInt8], id: String)] = []

    init(_ db: Database, in namespace: String) throws {
        (self.db, self.namespace) = (db, namespace)
        last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT MAX(change) FROM collections")) ?? 0
    }

    /// Applies a batch and returns the numbers of its changes.
    mutating func apply(_ batch: RecordBatch) throws -> [Int64] {
        try db.require(batch.conditions, in: namespace)
        var numbers: [Int64] = []
        numbers.reserveCapacity(batch.changes.count)
        for change in batch.changes { numbers.append(try apply(change)) }
        try requireUniqueness()
        for name in changed { try collections[name]?.save(to: db) }
        return numbers
    }

    private mutating func apply(_ change: RecordChange) throws -> Int64 {
        let name = Array(change.collection.utf8)
        if collections[name] == nil {
            if let known = try StoredCollection(change.collection, in: namespace, db, withIndexes: true) {
                collections[name] = known
            } else if case .save = change {
                collections[name] = try StoredCollection(creating: change.collection, in: namespace, db)
            } else {
                return 0
            }
        }
        guard var collection = collections[name] else { return 0 }
        let number = last + 1, kind: LoggedChange.Kind, id: Data
        switch change {
        case .save(_, let record):
            id = Data(record.id.utf8)
            kind = try save(record, id, in: collection, number: number) ? .insert : .update
            if kind == .insert { collection.count += 1 }
        case .delete(_, let text):
            (id, kind) = (Data(text.utf8), .delete)
            guard try delete(id, from: collection) else { return 0 }
            collection.count -= 1
        case .deleteAll:
            (id, kind) = (Data(), .deleteAll)
            guard try deleteAll(from: collection) else { return 0 }
            collection.count = 0
        }
        try db.cachedStatement(sql: "INSERT INTO changes (collection, number, kind, id) VALUES (?, ?, ?, ?)").execute(
            arguments: [collection.number, number, kind.rawValue, id])
        collection.change = number
        collection.logged += 1
        last = number
        collections[name] = collection
        changed.insert(name)
        return number
    }

    /// Stores a record and returns whether its id is new.
    private mutating func save(_ record: StoredRecord, _ id: Data, in collection: StoredCollection, number: Int64)
        throws -> Bool
    {
        let old = try KnownRecord(id, in: collection, db)
        let row: Int64
        if let old {
            row = old.row
            try db.cachedStatement(sql: "UPDATE records SET version = ?, value = ? WHERE number = ?").execute(
                arguments: [number, Data(record.value), row])
        } else {
            try db.cachedStatement(sql: "INSERT INTO records (collection, id, version, value) VALUES (?, ?, ?, ?)")
                .execute(arguments: [collection.number, id, number, Data(record.value)])
            row = db.lastInsertedRowID
        }
        for index in collection.indexes {
            if let table = index.fullText {
                let texts = table.texts(of: record.value)
                if let old, table.texts(of: old.value) == texts { continue }
                try table.enter(texts, record: row, in: db)
                continue
            }
            let key = index.key(of: record.value)
            if let old {
                let oldKey = index.key(of: old.value)
                if oldKey == key { continue }
                try index.remove(oldKey, id: id, in: db)
            }
            try index.enter(key, id: id, record: row, in: db)
            if index.definition.isUnique, index.state == .ready, !IndexKey.containsNull(key) {
                newKeys.append((collection.name, index, key, record.id))
            }
        }
        return old == nil
    }

    private func delete(_ id: Data, from collection: StoredCollection) throws -> Bool {
        guard let old = try KnownRecord(id, in: collection, db) else { return false }
        for index in collection.indexes {
            if let table = index.fullText {
                try table.remove(record: old.row, in: db)
            } else {
                try index.remove(index.key(of: old.value), id: id, in: db)
            }
        }
        try db.cachedStatement(sql: "DELETE FROM records WHERE number = ?").execute(arguments: [old.row])
        return true
    }

    private func deleteAll(from collection: StoredCollection) throws -> Bool {
        for index in collection.indexes {
            if let table = index.fullText {
                if collection.count > 0 { try table.clear(in: db) }
                continue
            }
            try db.cachedStatement(sql: "DELETE FROM entries WHERE \"index\" = ?").execute(arguments: [index.number])
        }
        try db.cachedStatement(sql: "DELETE FROM records WHERE collection = ?").execute(arguments: [collection.number])
        return db.changesCount > 0
    }

    /// Checks that each new key of a unique index belongs to one record only.
    ///
    /// - Throws: `store.duplicate` if a new key of a unique index has two records.
    private func requireUniqueness() throws {
        for (collection, index, key, id) in newKeys {
            let statement = try db.cachedStatement(
                sql: "SELECT id FROM entries WHERE \"index\" = ? AND key = ? ORDER BY id LIMIT 2")
            let ids = try Row.fetchAll(statement, arguments: [index.number, Data(key)]).map { try $0.text(at: 0) }
            if ids.count > 1, let other = ids.first(where: { !$0.utf8.elementsEqual(id.utf8) }) {
                throw BackplaneError.duplicate(collection, index: index.definition.name, id, other)
            }
        }
    }
}

/// A record that a change replaces or deletes, as stored.
private struct KnownRecord {
    let row: Int64
    /// The value, which is read only for indexes.
    let value: [UInt8]

    /// Reads a record, or returns `nil` if there is none.
    init?(_ id: Data, in collection: StoredCollection, _ db: Database) throws {
        let value = collection.indexes.isEmpty ? "x''" : "value"
        let statement = try db.cachedStatement(
            sql: "SELECT number, \(value) FROM records WHERE collection = ? AND id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [collection.number, id]) else { return nil }
        (self.row, self.value) = (row[0], try row.bytes(at: 1))
    }
}

extension Database {
    /// Returns the number of the last change of a collection, 0 for none.
    func lastChange(of collection: String, in namespace: String) throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT change FROM collections WHERE namespace = ? AND name = ?"),
            arguments: [namespace, collection]) ?? 0
    }

    /// Verifies that conditions hold.
    ///
    /// - Throws: `store.conflict` if a condition does not hold.
    func require(_ conditions: [RecordCondition], in namespace: String) throws {
        for condition in conditions {
            switch condition {
            case .version(let name, let id, let expected):
                let statement = try cachedStatement(
                    sql: """
                        SELECT version FROM records
                        WHERE collection = (SELECT number FROM collections WHERE namespace = ? AND name = ?) AND id = ?
                        """)
                let found = try Int64.fetchOne(statement, arguments: [namespace, name, Data(id.utf8)]) ?? 0
                guard found == expected else {
                    throw BackplaneError.conflict(name, id, expected: expected, found: found)
                }
            case .unchanged(let name, let number):
                let found = try lastChange(of: name, in: namespace)
                guard found <= number else { throw BackplaneError.conflict(name, since: number, found: found) }
            }
        }
    }
}
#endif
