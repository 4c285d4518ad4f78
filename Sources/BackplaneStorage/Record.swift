public import Backplane

/// A value that a store keeps as JSON in a collection, identified by an id.
///
/// ```swift
/// struct Book: Record {
///     var id: String
///     var title: String
///     var author: String
///     var year: Int
///
///     struct Indexes: RecordIndexes {
///         let author = Indexed<String>("author")
///         let year = Indexed<Int>("year")
///     }
/// }
/// ```
///
/// A property that is optional, or has a default when it is decoded, can be added at any time. A property that is no
/// longer declared is removed when the record is next saved. Any other change requires a new ``schema`` with a
/// migration.
public protocol Record: Codable, Sendable {
    /// The indexes by which records are queried and sorted. Default: none.
    associatedtype Indexes: RecordIndexes = NoIndexes
    /// The unique id of the record in its collection.
    ///
    /// It must not be empty.
    var id: String { get }
    /// The name of the collection that contains the record. Default: the type's name.
    ///
    /// Records that were stored under another name are no longer found. A component declares one record type per
    /// collection.
    static var collection: String { get }
    /// The version of the type's schema, which increases with every change that needs a migration. Default: 1.
    static var schema: Int { get }
    /// Returns a record converted from an older form.
    ///
    /// The function is called once for every older record when the collection is first used, and again for records that
    /// an older generation of the plugin stores during a swap. If it throws, the record is left unchanged, and the
    /// error is reported. Default: decodes the older form as this type.
    static func migrated(from old: OldRecord) throws -> Self
}

extension Record {
    /// The type's name.
    public static var collection: String { String(describing: Self.self) }

    /// The default: the first version.
    public static var schema: Int { 1 }

    /// Decodes the older form as this type, by default.
    public static func migrated(from old: OldRecord) throws -> Self { try old.decode(Self.self) }
}

/// A stored record in an older form of its type.
public struct OldRecord: Sendable {
    /// The id, which does not change.
    public var id: String
    /// The ``Record/schema`` with which the record was stored.
    public var schema: Int
    /// The stored bytes, as they were encoded with that schema.
    public var json: [UInt8]

    /// Returns the record as a type that describes the older form.
    ///
    /// - Throws: `store.undecodable`.
    public func decode<Old: Decodable>(_: Old.Type = Old.self) throws(BackplaneError) -> Old {
        try JSON.decode(Old.self, json, failing: .storeUndecodable)
    }
}

/// A record with its version, which a later conditional write compares.
public struct Versioned<R: Record>: Sendable {
    /// The decoded value.
    public var record: R
    /// The number of the change that stored the record.
    public var version: Int64
}
