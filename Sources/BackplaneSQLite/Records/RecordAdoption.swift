#if Engines
import BackplaneStorage
import Foundation
import GRDB

/// The transfer of records from another file or an older table into the empty tables of a store.
///
/// Records without a version receive one in their order of arrival. Adopted records are not in the log: readers that
/// follow a collection have to reread it.
struct RecordAdoption {
    private struct Collection {
        var number: Int64
        var count = 0
    }
    private let db: Database
    private var collections: [[[UInt8]]: Collection] = [:]
    private var last: Int64 = 0

    init(_ db: Database) { self.db = db }

    /// Adds a record, unless there is a newer one with its id.
    ///
    /// - Returns: A Boolean value that indicates whether the id is new.
    @discardableResult
    mutating func add(_ record: StoredRecord, collection: String, namespace: String) throws -> Bool {
        let place = try define(collection, in: namespace)
        let number = collections[place]!.number, id = Data(record.id.utf8)
        let version = record.version > 0 ? record.version : last + 1
        let known = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT version FROM records WHERE collection = ? AND id = ?"),
            arguments: [number, id])
        if let known, known >= version || record.version == 0 { return false }
        let checksum = RecordChecksum.of(collection: number, id: id, version: version, value: record.value)
        try db.cachedStatement(
            sql: """
                INSERT INTO records (collection, id, version, checksum, value) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (collection, id) DO UPDATE
                SET version = excluded.version, checksum = excluded.checksum, value = excluded.value
                """
        ).execute(arguments: [number, id, version, checksum, Data(record.value)])
        last = max(last, version)
        if known == nil { collections[place]!.count += 1 }
        return known == nil
    }

    /// Adds a collection unless it is there already, and returns its key.
    @discardableResult
    private mutating func define(_ collection: String, in namespace: String) throws -> [[UInt8]] {
        let place = [Array(namespace.utf8), Array(collection.utf8)]
        guard collections[place] == nil else { return place }
        try db.cachedStatement(
            sql: "INSERT INTO collections (namespace, name, change, trimmed, logged, count) VALUES (?, ?, 0, 0, 0, 0)"
        ).execute(arguments: [namespace, collection])
        collections[place] = Collection(number: db.lastInsertedRowID)
        return place
    }

    /// Writes the counts of the collections, and the change number at which the log begins.
    ///
    /// - Parameters:
    ///   - lastChange: The highest number that the file is known to have assigned, also to what is lost.
    ///   - known: The collections that the file is known to have had, also those without records.
    mutating func finish(after lastChange: Int64 = 0, in known: some Sequence<RecordWalk.Place> = []) throws {
        for place in known { try define(place.collection, in: place.namespace) }
        let change = max(last, lastChange) + 1
        for collection in collections.values {
            try db.cachedStatement(
                sql: "UPDATE collections SET change = ?1, trimmed = ?1, count = ?2 WHERE number = ?3"
            )
            .execute(arguments: [change, collection.count, collection.number])
        }
    }
}
#endif
