public import Backplane

/// A change of a collection, as ``RecordCollection/changes(since:)`` returns it.
public struct CollectionChange<R: Record>: Sendable {
    /// The number of the change, after which later changes can be requested; numbers increase.
    public var number: Int64
    /// The kind of the change, or `missed`.
    public var kind: CollectionChangeKind
    /// The id of the record; empty if the change does not concern a single record.
    public var id: String
    /// The stored record; `nil` for other changes, and if the record was replaced or deleted later or cannot be
    /// decoded.
    public var record: R?

    /// Creates an element of the changes, by default without a record.
    public init(number: Int64, kind: CollectionChangeKind, id: String = "", record: R? = nil) {
        (self.number, self.kind, self.id, self.record) = (number, kind, id, record)
    }
}

/// The kinds of changes of a collection, including missed ones.
public enum CollectionChangeKind: String, Codable, Sendable {
    /// A record was stored under a new id.
    case inserted
    /// A record replaced another one with the same id.
    case updated
    /// A record was deleted.
    case deleted
    /// All records were deleted.
    case emptied
    /// Some earlier changes are no longer in the log, so a reader that follows the collection has to reread it.
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

// By hand, since synthesised keys would add ten conformances to every plugin (``TextKey``).

extension CollectionChange: Codable {
    /// Decodes a change from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        number = try values.decode(Int64.self, forKey: .number)
        kind = try values.decode(CollectionChangeKind.self, forKey: .kind)
        id = try values.decode(String.self, forKey: .id)
        record = try values.decodeIfPresent(R.self, forKey: .record)
    }

    /// Encodes a change as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(number, forKey: .number)
        try values.encode(kind, forKey: .kind)
        try values.encode(id, forKey: .id)
        try values.encodeIfPresent(record, forKey: .record)
    }
}

extension ChangesSince: Codable {
    /// Decodes the position from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        number = try values.decode(Int64.self, forKey: .number)
    }

    /// Encodes the position as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(number, forKey: .number)
    }
}

extension TextKey {
    fileprivate static let number = TextKey("number")
    fileprivate static let kind = TextKey("kind")
    fileprivate static let id = TextKey("id")
    fileprivate static let record = TextKey("record")
}

extension RecordCollection {
    /// Returns the changes of the collection after a number, followed by each new change, as an endless sequence.
    ///
    /// ```swift
    /// var last = try await books.lastChange()
    /// let all = try await books.all()
    /// for try await change in books.changes(since: last) { … }
    /// ```
    ///
    /// The changes are read from a log of at least 100,000 changes, so no writer waits for a reader. A reader that
    /// falls further behind receives a change of the kind `missed`, and continues after it.
    ///
    /// - Parameter number: The ``CollectionChange/number`` of the last known change, ``lastChange()``, or 0 for all
    ///   changes in the log.
    public func changes(since number: Int64) -> RecordChanges<R> { RecordChanges(collection: self, number: number) }

    /// Returns the number of the collection's last change; 0 if it never had one.
    public func lastChange() async throws(BackplaneError) -> Int64 {
        try await self.page(StoreSelection(collection: R.collection, limit: 0)).change
    }
}

/// The changes of a collection, which can be iterated any number of times.
public struct RecordChanges<R: Record>: AsyncSequence, Sendable {
    private let collection: RecordCollection<R>
    private let number: Int64

    fileprivate init(collection: RecordCollection<R>, number: Int64) {
        (self.collection, self.number) = (collection, number)
    }

    /// Returns an iterator that begins after the sequence's number.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(collection, number) }

    /// The reader of a collection's log.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let collection: RecordCollection<R>
        /// The number of the last change that was read.
        private var number: Int64
        private var read: ArraySlice<CollectionChange<R>> = []
        /// A Boolean value that indicates whether all available changes have been read.
        private var isAtEnd = false
        /// The number of records that could not be decoded.
        private var unreadable = 0

        fileprivate init(_ collection: RecordCollection<R>, _ number: Int64) {
            (self.collection, self.number) = (collection, number)
        }

        /// Waits for the next change and returns it.
        ///
        /// - Throws: `call.cancelled` if the task is cancelled; `call.retired` once the component has stopped; the
        ///   errors of ``RecordCollection``.
        public mutating func next() async throws(BackplaneError) -> CollectionChange<R>? {
            try await next(isolation: #isolation)
        }

        /// Waits for the next change and returns it.
        ///
        /// - Throws: The errors of ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BackplaneError)
            -> CollectionChange<R>?
        {
            while read.isEmpty { try await readOn() }
            return read.removeFirst()
        }

        private mutating func readOn() async throws(BackplaneError) {
            let part = collection.part
            try await part.prepare(R.self)
            if isAtEnd { try await part.exchange.waitForChange(of: R.collection, since: number) }
            let page = try await part.exchange.changes(of: R.collection, since: number, limit: 500)
            var changes: [CollectionChange<R>] = []
            if page.hasMissed {
                let before = page.changes.first.map { $0.number - 1 } ?? page.last
                changes.append(CollectionChange(number: before, kind: .missed))
            }
            for logged in page.changes { changes.append(change(logged)) }
            (read, number, isAtEnd) = (changes[...], page.last, !page.hasMore)
        }

        private mutating func change(_ logged: LoggedChange) -> CollectionChange<R> {
            var change = CollectionChange<R>(number: logged.number, kind: .init(logged.kind), id: logged.id)
            guard let stored = logged.record else { return change }
            do throws(BackplaneError) {
                change.record = try StoredForm.decode(R.self, stored)
            } catch {
                unreadable += 1
                collection.report(
                    UnreadableRecord(id: stored.id, json: stored.value, version: stored.version, error: error),
                    number: unreadable)
            }
            return change
        }
    }
}

extension CollectionChangeKind {
    fileprivate init(_ kind: LoggedChange.Kind) {
        switch kind {
        case .insert: self = .inserted
        case .update: self = .updated
        case .delete: self = .deleted
        case .deleteAll: self = .emptied
        }
    }
}

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

    /// The number of the change, greater than the numbers of all earlier changes.
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
