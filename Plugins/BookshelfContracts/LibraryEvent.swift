public import Backplane

/// An event of the library: a loan that was made or returned, by any reader.
public struct LibraryEvent: Codable, Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Codable, Sendable {
        /// A book was lent.
        case lent = "loan.created"
        /// A book was returned.
        case returned = "loan.returned"
        /// Earlier events are no longer known, so that some may be missing.
        case missed
    }
    /// The identifier of the event, after which the next ones follow.
    public var id: String
    /// The kind of the event.
    public var kind: Kind
    /// The identifier of the book; `nil` if it is not about a book.
    public var book: String?

    /// Creates an event.
    public init(id: String, kind: Kind, book: String? = nil) { (self.id, self.kind, self.book) = (id, kind, book) }
}

/// The place from which events of the library are read.
///
/// A reader misses none when code is swapped. Events from now on have no position before the first one: such a stream
/// ends with `stream.interrupted` if code is swapped until then, and its reader decides how to go on.
public struct EventsAfter: Codable, Sendable, Resumable {
    /// The identifier of the last event to skip; empty for events from now on.
    public var id: String
    /// A Boolean value that indicates whether the place is after an event that is known.
    public var hasPosition: Bool { !id.isEmpty }

    /// Creates a place after an event.
    public init(_ id: String = "") { self.id = id }

    /// Returns the place after an event.
    public func resuming(after last: LibraryEvent) -> EventsAfter { EventsAfter(last.id) }
}
