/// A page of the changes of a collection, from its log.
public struct ChangePage: Sendable {
    /// The changes, in the order in which they were made.
    public var changes: [LoggedChange]
    /// The number from which to request the next page.
    public var last: Int64
    /// A Boolean value that indicates whether there are more changes after these.
    public var hasMore: Bool
    /// A Boolean value that indicates whether changes before these are no longer in the log.
    ///
    /// A reader that follows the collection has to reread it from the beginning.
    public var hasMissed: Bool

    /// Creates a page of the log that ends with the change `last`.
    public init(changes: [LoggedChange], last: Int64, hasMore: Bool, hasMissed: Bool) {
        (self.changes, self.last, self.hasMore, self.hasMissed) = (changes, last, hasMore, hasMissed)
    }
}

/// A change in the log of a collection.
public struct LoggedChange: Sendable {
    /// The three ways in which a record changes.
    public enum Kind: Int, Sendable {
        /// A record was stored under a new id.
        case insert = 1
        /// A record replaced another.
        case update = 2
        /// A record was deleted.
        case delete = 3
        /// The collection was emptied.
        case deleteAll = 4
    }

    /// The number of the change, greater than that of every change before it.
    public var number: Int64
    /// The kind of the change of the record, or of the collection.
    public var kind: Kind
    /// The id of the record; empty for ``Kind/deleteAll``.
    public var id: String
    /// The record that was stored, unless a later change has replaced or deleted it.
    public var record: StoredRecord?

    /// Creates an entry of the log for the record `id`.
    public init(number: Int64, kind: Kind, id: String, record: StoredRecord? = nil) {
        (self.number, self.kind, self.id, self.record) = (number, kind, id, record)
    }
}
