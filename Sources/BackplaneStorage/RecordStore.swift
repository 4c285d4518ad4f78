public import Backplane

/// What keeps records: a database file, or memory. One serves all components of a host, each in a namespace of its own.
public protocol RecordStore: Sendable {
    /// Makes all changes in order, or none.
    ///
    /// - Throws: `store.unusable` when the store cannot be written to.
    func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError)

    /// The records that a query asks for.
    ///
    /// - Throws: `store.unusable` when the store cannot be read.
    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage
}

/// A record as a store sees it.
public struct StoredRecord: Sendable, Hashable {
    public var id: String
    /// JSON.
    public var value: [UInt8]

    public init(id: String, value: [UInt8]) {
        (self.id, self.value) = (id, value)
    }
}

/// One change of a collection.
public enum RecordChange: Sendable, Hashable {
    /// Keeps a record, in place of the one with its id.
    case save(collection: String, StoredRecord)
    case delete(collection: String, id: String)
    case deleteAll(collection: String)
}

/// Which records of a collection are asked for.
public struct RecordQuery: Sendable, Hashable {
    public var collection: String
    /// `nil`: all of them.
    public var ids: [String]?
    /// How many to pass over, in the order of their ids, byte by byte.
    public var offset: Int
    /// How many to give at the most; 0 counts them only.
    public var limit: Int

    public init(collection: String, ids: [String]? = nil, offset: Int = 0, limit: Int = .max) {
        (self.collection, self.ids, self.offset, self.limit) = (collection, ids, offset, limit)
    }
}

/// What a query found.
public struct RecordPage: Sendable, Hashable {
    public var records: [StoredRecord]
    /// How many there are, on this page and off it.
    public var total: Int

    public init(records: [StoredRecord], total: Int) {
        (self.records, self.total) = (records, total)
    }
}

extension BackplaneError.Code {
    /// The store cannot be read or written: its file, its disk, its rights.
    public static let storeUnusable = Self(rawValue: "store.unusable")
    /// The store's file is damaged: what can be read was saved, or the file was left as it is.
    public static let storeDamaged = Self(rawValue: "store.damaged")
    /// What is kept under an id is not what it is decoded as.
    public static let storeUndecodable = Self(rawValue: "store.undecodable")
}

/// The treatment of a store whose file is damaged.
public enum DamagedStorePolicy: String, Sendable {
    /// Save what can be read into a new file, and keep the damaged one beside it.
    case salvage
    /// Leave the file as it is, and do not open the store.
    case refuse
}
