/// A selection of records in one collection, read page by page.
public struct RecordQuery: Sendable {
    /// The records that a query selects.
    public enum Selection: Sendable {
        /// The records with these ids, sorted by id.
        case ids([String])
        /// The records in a range of an index or of the ids, sorted by it.
        case range(RecordRange)
        /// The records with all words of a text in a full-text index, sorted by their relevance (BM25).
        ///
        /// Every word of the text must be in one of the index's properties. A word that ends with `*` is a prefix, and
        /// words in quotation marks form a phrase.
        case search(index: String, text: String)
    }

    /// The name of the collection.
    public var collection: String
    /// The records to select.
    public var selection: Selection
    /// A Boolean value that indicates whether the records are read from the last to the first.
    public var isDescending: Bool
    /// The end of the previous page; `nil` for the first page.
    public var after: PageCursor?
    /// The maximum number of records on the page.
    ///
    /// A page never has more than 10,000 records, and ends early when its values reach 16 MB.
    public var limit: Int
    /// A Boolean value that indicates whether the values of the records are omitted.
    public var isWithoutValues: Bool
    /// The conditions on the state of the store from which the page is read.
    public var conditions: [RecordCondition]

    /// Creates a query, by default for the first page of the whole collection, sorted by id.
    public init(
        collection: String, _ selection: Selection = .range(RecordRange()), isDescending: Bool = false,
        after: PageCursor? = nil, limit: Int = .max, isWithoutValues: Bool = false,
        if conditions: [RecordCondition] = []
    ) {
        (self.collection, self.selection, self.isDescending) = (collection, selection, isDescending)
        (self.after, self.limit, self.isWithoutValues) = (after, limit, isWithoutValues)
        self.conditions = conditions
    }

    /// Creates a query that selects records by their ids, in the order of the ids.
    public init(collection: String, ids: [String]) { self.init(collection: collection, .ids(ids)) }
}

/// A range of an index, or of the ids of a collection.
public struct RecordRange: Sendable {
    /// The bounds of a range, which contains only values of the same kind.
    public enum Bounds: Sendable {
        /// The values between two bounds; a missing bound is the first or last value of the other bound's kind.
        case limits(from: IndexedValue?, isFromIncluded: Bool, to: IndexedValue?, isToIncluded: Bool)
        /// The strings with a prefix.
        case prefix(String)

        /// Returns the bounds of a range between two values; the lower value is included by default.
        ///
        /// A missing bound is the first or last value of the other bound's kind.
        public static func between(
            _ from: IndexedValue?, and to: IndexedValue?, includingFirst: Bool = true, includingLast: Bool = false
        ) -> Bounds {
            .limits(from: from, isFromIncluded: includingFirst, to: to, isToIncluded: includingLast)
        }
    }

    /// The name of the index; `nil` for the ids.
    public var index: String?
    /// The values of the index's first properties.
    public var equal: [IndexedValue]
    /// The bounds of the next property; `nil` for all values.
    public var bounds: Bounds?

    /// Creates a range, by default the range of all ids.
    public init(of index: String? = nil, equal: [IndexedValue] = [], _ bounds: Bounds? = nil) {
        (self.index, self.equal, self.bounds) = (index, equal, bounds)
    }
}

/// The position in the order of a query at which a page ended.
///
/// It remains valid across writes, deletions and restarts: the next page begins with the first record after that
/// position. As text, such as in JSON or in the query of a URL, it is hexadecimal digits, which reveal the id and the
/// indexed values of the last record.
public struct PageCursor: Sendable, Hashable {
    /// The position in an opaque form that only stores interpret.
    public var bytes: [UInt8]

    /// Creates a cursor from bytes that another process or an earlier run has received.
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

extension PageCursor: LosslessStringConvertible, Codable {
    /// The bytes as hexadecimal digits.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Creates a cursor from its description; `nil` if the text is none.
    public init?(_ description: String) {
        let digits = description.compactMap(\.hexDigitValue)
        guard digits.count == description.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(bytes: stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// Decodes a cursor from its description.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer(), text = try container.decode(String.self)
        guard let cursor = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected the hexadecimal digits of a cursor, found `\(text)`")
        }
        self = cursor
    }

    /// Encodes the cursor's description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A part of the records that a query selects, all from one state of the store.
public struct RecordPage: Sendable {
    /// The records, in the order of the query.
    public var records: [StoredRecord]
    /// The place at which the next page begins; `nil` after the last page.
    public var next: PageCursor?
    /// The number of the collection's last change; 0 if it never had one.
    public var change: Int64
    /// The number of the last change in any collection of the namespace.
    public var namespaceChange: Int64

    /// Creates the answer to a query, with the cursor of the next page if there is one.
    public init(
        records: [StoredRecord], next: PageCursor? = nil, change: Int64 = 0, namespaceChange: Int64 = 0
    ) {
        (self.records, self.next, self.change, self.namespaceChange) = (records, next, change, namespaceChange)
    }
}

/// The changes that a store makes together, in order, if all conditions hold; otherwise it changes nothing.
public struct RecordBatch: Sendable {
    /// The conditions that must hold before the first change; the changes of the batch itself do not affect them.
    public var conditions: [RecordCondition]
    /// The changes, which may concern several collections.
    public var changes: [RecordChange]

    /// Creates a batch that is applied only if all conditions hold.
    public init(_ changes: [RecordChange], if conditions: [RecordCondition] = []) {
        (self.changes, self.conditions) = (changes, conditions)
    }
}

/// A change of one collection.
public enum RecordChange: Sendable {
    /// Stores a record and replaces the record with the same id, regardless of the version in `StoredRecord`.
    case save(collection: String, StoredRecord)
    /// Deletes the record with an id, if there is one.
    case delete(collection: String, id: String)
    /// Empties a collection.
    case deleteAll(collection: String)
}

/// A requirement on the content of a store.
public enum RecordCondition: Sendable {
    /// The record with an id has the given version; 0 requires that no record has the id.
    case version(collection: String, id: String, Int64)
    /// Nothing in a collection has changed since a change number.
    case unchanged(collection: String, since: Int64)
}

/// A record in its stored form.
public struct StoredRecord: Sendable {
    /// The key of the record in its collection.
    public var id: String
    /// The record in JSON.
    public var value: [UInt8]
    /// The number of the change that wrote the record; 0 for a record that a store has not written yet.
    ///
    /// A later write of the same id always has a greater version, even after the record was deleted.
    public var version: Int64

    /// Creates a record in its stored form.
    public init(id: String, value: [UInt8], version: Int64 = 0) {
        (self.id, self.value, self.version) = (id, value, version)
    }
}
