public import Backplane

/// An event of the library: a book was lent or returned, by any reader.
public struct LibraryEvent: Codable, Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Codable, Sendable {
        /// A book was lent.
        case lent = "loan.created"
        /// A book was returned.
        case returned = "loan.returned"
        /// Earlier events are no longer available, so some may have been missed.
        case missed
    }
    /// The identifier of the event, from which a stream can be resumed.
    public var id: String
    /// The kind of the event.
    public var kind: Kind
    /// The identifier of the book; `nil` if the event does not concern a book.
    public var book: String?

    /// Creates an event.
    public init(id: String, kind: Kind, book: String? = nil) { (self.id, self.kind, self.book) = (id, kind, book) }
}

/// The position from which events of the library are read.
///
/// A reader misses none when code is swapped. A stream of new events has no position before its first event: if code is
/// swapped before then, it ends with `stream.interrupted`, and the reader decides how to continue.
public struct EventsAfter: Codable, Sendable, Resumable {
    /// The identifier of the last event to skip; empty for events from now on.
    public var id: String
    /// A Boolean value that indicates whether the position is after a known event.
    public var hasPosition: Bool { !id.isEmpty }

    /// Creates a position after an event.
    public init(_ id: String = "") { self.id = id }

    /// Returns the position after an event.
    public func resuming(after last: LibraryEvent) -> EventsAfter { EventsAfter(last.id) }
}
