public import Backplane

/// A change of a collection, as ``RecordCollection/changes(since:)`` returns it.
public struct CollectionChange<R: Record>: Sendable {
    /// The number of the change, from which later changes can be requested; numbers increase.
    public var number: Int64
    /// The kind of the change, or `missed`.
    public var kind: CollectionChangeKind
    /// The id of the record; empty if the change does not concern a single record.
    public var id: String
    /// The stored record; `nil` for other changes, and if the record was replaced or deleted later or cannot be
    /// decoded.
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

/// The position from which a stream reads a collection's changes, so that it can resume after a swap.
///
/// ```swift
/// public let changes = StreamMethod<ChangesSince<Book>, CollectionChange<Book>>()
/// …
/// table.stream(\.changes) { store, place, elements, _ in
///     try await elements.send(contentsOf: store.books.changes(since: place.number))
/// }
/// ```
public struct ChangesSince<R: Record>: Sendable, Resumable {
    /// The number of the last change to skip; 0 for none.
    public var number: Int64

    /// Creates the position after a change.
    public init(_ number: Int64) { self.number = number }

    /// Returns the position after a change.
    public func resuming(after last: CollectionChange<R>) -> ChangesSince { ChangesSince(last.number) }
}
