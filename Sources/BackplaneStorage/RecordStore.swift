public import Backplane

/// An engine that stores records, in a database file or in memory.
///
/// One store serves all components of a host, each in a namespace of its own.
public protocol RecordStore: Sendable {
    /// Applies all changes in order, or none.
    ///
    /// - Parameters:
    ///   - changes: The changes, which may concern several collections.
    ///   - namespace: The owner of the collections. Namespaces share nothing, whatever their collections are named.
    /// - Throws: `store.unusable` if the store cannot be written.
    func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError)

    /// Returns the records that a query selects.
    ///
    /// - Parameter namespace: The owner of the collection.
    /// - Throws: `store.unusable` if the store cannot be read.
    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage
}

/// A record in its stored form.
public struct StoredRecord: Sendable, Hashable {
    /// The key of the record in its collection.
    public var id: String
    /// The record in JSON.
    public var value: [UInt8]

    /// Creates a record in its stored form.
    public init(id: String, value: [UInt8]) {
        (self.id, self.value) = (id, value)
    }
}

/// A change of one collection.
public enum RecordChange: Sendable, Hashable {
    /// Stores a record and replaces the one with the same id.
    case save(collection: String, StoredRecord)
    /// Deletes the record with an id, if there is one.
    case delete(collection: String, id: String)
    /// Empties a collection.
    case deleteAll(collection: String)
}

/// A selection of records in one collection.
public struct RecordQuery: Sendable, Hashable {
    /// The name of the collection.
    public var collection: String
    /// The ids of the records; `nil` for all records.
    public var ids: [String]?
    /// The number of records to skip, in the byte order of their ids.
    public var offset: Int
    /// The greatest number of records to return; 0 to count them only.
    public var limit: Int

    /// Creates a query, by default for the whole collection.
    public init(collection: String, ids: [String]? = nil, offset: Int = 0, limit: Int = .max) {
        (self.collection, self.ids, self.offset, self.limit) = (collection, ids, offset, limit)
    }
}

/// The result of a query.
public struct RecordPage: Sendable, Hashable {
    /// The selected records after `offset` was skipped, at most `limit`.
    public var records: [StoredRecord]
    /// The number of selected records, on this page and all others.
    public var total: Int

    /// Creates the result of a query.
    public init(records: [StoredRecord], total: Int) {
        (self.records, self.total) = (records, total)
    }
}

extension BackplaneError.Code {
    /// The store cannot be read or written, because of its file, its disk or its permissions.
    public static let storeUnusable = Self(rawValue: "store.unusable")
    /// The store's file is damaged; what can be read was saved, or the file was left as it is.
    public static let storeDamaged = Self(rawValue: "store.damaged")
    /// The value stored under an id cannot be decoded as the requested type.
    public static let storeUndecodable = Self(rawValue: "store.undecodable")
}

/// The treatment of a store whose file is damaged.
public enum DamagedStorePolicy: String, Sendable {
    /// Copies what can be read into a new file, and keeps the damaged one beside it.
    case salvage
    /// Leaves the file as it is, and does not open the store.
    case refuse
}
