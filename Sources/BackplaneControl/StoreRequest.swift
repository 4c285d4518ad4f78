package import Backplane
package import BackplaneStorage

/// A request about the records of a host's store, which only the host can change while it has the store open.
package struct StoreRequest: ControlMessage {
    package static let name = "store"

    /// The operation, one of `list`, `read`, `define`, `write` and `check`.
    package var operation: String
    /// The namespace of `read`, `define` and `write`.
    package var namespace: String?
    /// The collection of `read` and `define`.
    package var collection: String?
    /// The id of the only record that `read` returns; `nil` for all.
    package var id: String?
    /// The `next` of the previous page; `nil` for the first page.
    package var after: [UInt8]?
    /// The maximum number of records on the page of `read`.
    package var limit: Int?
    /// The indexes that `define` adds to those of the collection.
    package var indexes: [StoreIndexForm]?
    /// The records of `write`.
    package var records: [StoreRecordForm]?
    /// A Boolean value that indicates whether `write` replaces records of the same id, which are otherwise a conflict.
    package var overwrites: Bool?
    /// A Boolean value that indicates whether `list` counts the bytes of each collection.
    package var sizes: Bool?

    package struct Answer: Codable, Sendable {
        /// The absolute path of the store's folder, in the answer to `list`.
        package var folder: String?
        /// The collections of the store, in the answer to `list`.
        package var collections: [StoreCollectionForm]?
        /// The page, in the answer to `read`.
        package var records: [StoreRecordForm]?
        /// The ids of the records on the page whose bytes have changed.
        package var damaged: [String]?
        /// The position at which the next page begins; `nil` after the last one.
        package var next: [UInt8]?
        /// The damage of the store, in the answer to `check`.
        package var damage: [BackplaneError]?

        package init() {}

        private enum CodingKeys: String, CodingKey {
            case folder = "folder"
            case collections = "collections"
            case records = "records"
            case damaged = "damaged"
            case next = "next"
            case damage = "damage"
        }
    }

    package init(_ operation: String) { self.operation = operation }

    private enum CodingKeys: String, CodingKey {
        case operation = "operation"
        case namespace = "namespace"
        case collection = "collection"
        case id = "id"
        case after = "after"
        case limit = "limit"
        case indexes = "indexes"
        case records = "records"
        case overwrites = "overwrites"
        case sizes = "sizes"
    }
}

/// A collection in the answer to `list`.
package struct StoreCollectionForm: Codable, Sendable, Hashable {
    package var namespace: String
    package var collection: String
    /// The number of records.
    package var records: Int
    /// The number of the last change.
    package var change: Int64
    package var indexes: [StoreIndexForm]
    /// The number of bytes of the records' values, if requested.
    package var bytes: Int64?

    package init(namespace: String, collection: String, records: Int, change: Int64, indexes: [StoreIndexForm]) {
        (self.namespace, self.collection, self.records) = (namespace, collection, records)
        (self.change, self.indexes) = (change, indexes)
    }

    private enum CodingKeys: String, CodingKey {
        case namespace = "namespace"
        case collection = "collection"
        case records = "records"
        case change = "change"
        case indexes = "indexes"
        case bytes = "bytes"
    }
}

/// An index of a collection.
package struct StoreIndexForm: Codable, Sendable, Hashable {
    package var name: String
    package var paths: [String]
    package var unique: Bool
    /// The tokenizer of a full-text index; `nil` for an index of values.
    package var tokenizer: String?
    /// The prefix lengths of a full-text index.
    package var prefixes: [Int]?

    package init(_ index: IndexDefinition) {
        (name, paths, unique) = (index.name, index.paths, index.isUnique)
        (tokenizer, prefixes) = (index.text?.tokenizer.rawValue, index.text?.prefixes)
    }

    package var definition: IndexDefinition {
        // A tokenizer of a later version is replaced by the most general one.
        let text = tokenizer.map { TextIndexing(TextTokenizer(rawValue: $0) ?? .unicode, prefixes: prefixes ?? []) }
        return IndexDefinition(paths: paths, name: name, isUnique: unique, text: text)
    }

    private enum CodingKeys: String, CodingKey {
        case name = "name"
        case paths = "paths"
        case unique = "unique"
        case tokenizer = "tokenizer"
        case prefixes = "prefixes"
    }
}

/// A record in a page or in a `write` request.
package struct StoreRecordForm: Codable, Sendable, Hashable {
    /// The collection, for `write`.
    package var collection: String?
    package var id: String
    /// The record's JSON as a string, so that it arrives byte for byte; in base64 if it is not UTF-8.
    package var value: String
    /// A Boolean value that indicates whether the value is in base64; `nil` if not.
    package var base64: Bool?
    /// The version, for a record in a page.
    package var version: Int64?

    package init(collection: String? = nil, _ record: StoredRecord, version: Int64? = nil) {
        (self.collection, id, self.version) = (collection, record.id, version)
        if let text = String(validating: record.value, as: UTF8.self) {
            value = text
        } else {
            (value, base64) = (Base64.text(record.value), true)
        }
    }

    /// Returns the record.
    ///
    /// - Throws: `control.malformed` for a value that is marked as base64 but is not.
    package func record() throws(BackplaneError) -> StoredRecord {
        guard base64 == true else { return StoredRecord(id: id, value: Array(value.utf8), version: version ?? 0) }
        guard let bytes = Base64.bytes(value) else {
            throw BackplaneError(.controlMalformed, "expected base64 in the value of the record \(id.debugDescription)")
        }
        return StoredRecord(id: id, value: bytes, version: version ?? 0)
    }

    private enum CodingKeys: String, CodingKey {
        case collection = "collection"
        case id = "id"
        case value = "value"
        case base64 = "base64"
        case version = "version"
    }
}
