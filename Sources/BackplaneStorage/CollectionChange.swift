public import Backplane

/// A change of a collection, as ``RecordCollection/changes(since:)`` gives it.
public struct CollectionChange<R: Record>: Sendable {
    /// The number of the change, with which the changes after it are asked for; it is greater than those before.
    public var number: Int64
    /// Whether a record was inserted, updated or deleted, or changes were missed.
    public var kind: CollectionChangeKind
    /// The id of the record; empty if the change is not that of one record.
    public var id: String
    /// The record that was stored; `nil` for other changes, for a record that a later change has replaced or deleted,
    /// and for one that cannot be decoded.
    public var record: R?

    /// Creates an element of the changes, by default one that concerns no single record.
    public init(number: Int64, kind: CollectionChangeKind, id: String = "", record: R? = nil) {
        (self.number, self.kind, self.id, self.record) = (number, kind, id, record)
    }
}

/// The kinds of changes of a collection, including missed ones.
public enum CollectionChangeKind: String, Codable, Sendable {
    /// A record was stored under a new id.
    case inserted
    /// A record replaced the one with its id.
    case updated
    /// A record was deleted.
    case deleted
    /// All records were deleted.
    case emptied
    /// Changes before the next one are no longer in the log, so a reader that follows the collection has to reread it.
    case missed
}

/// The place from which a stream of a collection's changes is read, so that it is resumed when its provider is swapped.
///
/// ```swift
/// public let changes = StreamMethod<ChangesSince<Book>, CollectionChange<Book>>()
/// …
/// table.stream(\.changes) { store, place, elements, _ in
///     try await elements.send(contentsOf: store.books.changes(since: place.number))
/// }
/// ```
public struct ChangesSince<R: Record>: Sendable, Resumable {
    /// The number of the last change that is not of interest; 0 for none.
    public var number: Int64

    /// Creates the place after a change.
    public init(_ number: Int64) { self.number = number }

    /// Returns the place after a change.
    public func resuming(after last: CollectionChange<R>) -> ChangesSince { ChangesSince(last.number) }
}
