package import Backplane
import BackplaneHost
package import BackplaneRecords
public import BackplaneStorage
import FoundationEssentials

/// A request about the records of a host's store, which only the host can change while it has the store open.
package struct StoreRequest: ControlMessage {
    package static let name = "store"

    package enum Operation: String, Codable, CaseIterable, Sendable { case list, read, define, write, check }

    package var operation: Operation
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
    package var indexes: [IndexDefinition]?
    /// The records of `write`.
    package var records: [Record]?
    /// A Boolean value that indicates whether `write` replaces records of the same id, which are otherwise a conflict.
    package var overwrites = false
    /// A Boolean value that indicates whether `list` counts the bytes of each collection.
    package var sizes = false

    package struct Answer: Codable, Sendable {
        /// The absolute path of the store's folder, in the answer to `list`.
        package var folder: String?
        /// The collections of the store, in the answer to `list`.
        package var collections: [StoreCollection]?
        /// The page, in the answer to `read`.
        package var records: [Record]?
        /// The ids of the records on the page whose bytes have changed.
        package var damaged: [String]?
        /// The position at which the next page begins; `nil` after the last one.
        package var next: [UInt8]?
        /// The damage of the store, in the answer to `check`.
        package var damage: [BackplaneError]?
    }

    /// A record in a page or in a `write` request.
    package struct Record: Codable, Sendable, Hashable {
        /// The collection, for `write`.
        package var collection: String?
        package var id: String
        /// The record's JSON as a string, so that it arrives byte for byte; in base64 if it is not UTF-8.
        package var value: String
        /// A Boolean value that indicates whether the value is in base64.
        package var base64: Bool
        /// The version, for a record in a page.
        package var version: Int64?

        package init(collection: String? = nil, _ record: StoredRecord, version: Int64? = nil) {
            (self.collection, id, self.version) = (collection, record.id, version)
            let text = String(validating: record.value, as: UTF8.self)
            (value, base64) = (text ?? Data(record.value).base64EncodedString(), text == nil)
        }

        /// Returns the record.
        ///
        /// - Throws: `control.malformed` for a value that is marked as base64 but is not.
        package func record() throws(BackplaneError) -> StoredRecord {
            guard let bytes = base64 ? Data(base64Encoded: value).map(Array.init) : Array(value.utf8) else {
                throw BackplaneError(
                    .controlMalformed, "expected base64 in the value of the record \(id.debugDescription)")
            }
            return StoredRecord(id: id, value: bytes, version: version ?? 0)
        }
    }

    package init(_ operation: Operation) { self.operation = operation }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        try await request.answer(from: host.records, in: try host.recordFolder)
    }

    private func answer(from store: any RecordStore, in folder: String) async throws(BackplaneError) -> Answer {
        var answer = Answer()
        switch operation {
        case .list:
            answer.folder = folder
            answer.collections = try await store.list(sizes: sizes)
        case .read:
            let page = try await store.read(
                try given(collection, "collection"), id: id, after: after.map { PageCursor(bytes: $0) },
                limit: limit ?? 100, in: try given(namespace, "namespace"))
            answer.records = page.records.map { Record($0, version: $0.version) }
            answer.damaged = page.damaged.map(\.id)
            answer.next = page.next?.bytes
        case .define:
            try await store.add(
                indexes ?? [], to: try given(collection, "collection"), in: try given(namespace, "namespace"))
        case .write:
            var records: [(collection: String, record: StoredRecord)] = []
            for sent in self.records ?? [] {
                records.append((try given(sent.collection, "records/collection"), try sent.record()))
            }
            try await store.restore(records, overwriting: overwrites, in: try given(namespace, "namespace"))
        case .check: answer.damage = try await store.findDamage()
        }
        return answer
    }

    private func given(_ value: String?, _ key: String) throws(BackplaneError) -> String {
        if let value { return value }
        throw BackplaneError(.controlMalformed, "`\(operation)` requires `\(key)`", at: "/\(key)")
    }
}

/// A collection in the answer to `list`.
package struct StoreCollection: Codable, Sendable {
    package var namespace: String
    package var collection: String
    /// The number of records.
    package var records: Int
    /// The number of the last change.
    package var change: Int64
    package var indexes: [IndexDefinition]
    /// The number of bytes of the records' values, if requested.
    package var bytes: Int64?

    /// The name of the collection within the store.
    package var place: String { "\(namespace)/\(collection)" }
}

extension IndexDefinition: Codable {
    private enum CodingKeys: CodingKey { case name, paths, unique, tokenizer, prefixes }

    /// Decodes an index, of words if it has a `tokenizer`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var text: TextIndexing?
        if let tokenizer = try container.decodeIfPresent(String.self, forKey: .tokenizer) {
            // A tokenizer of a later version is replaced by the most general one.
            text = TextIndexing(
                TextTokenizer(rawValue: tokenizer) ?? .unicode,
                prefixes: try container.decodeIfPresent([Int].self, forKey: .prefixes) ?? [])
        }
        self.init(
            paths: try container.decode([String].self, forKey: .paths),
            name: try container.decode(String.self, forKey: .name),
            isUnique: try container.decode(Bool.self, forKey: .unique), text: text)
    }

    /// Encodes the index as an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(paths, forKey: .paths)
        try container.encode(isUnique, forKey: .unique)
        try container.encodeIfPresent(text?.tokenizer.rawValue, forKey: .tokenizer)
        try container.encodeIfPresent(text?.prefixes, forKey: .prefixes)
    }
}

/// The maintenance of a store by a command, through the host that has it open or by the command itself.
extension RecordStore {
    /// Returns all collections of all namespaces.
    ///
    /// - Parameter sizes: A Boolean value that indicates whether to also count the bytes of their records.
    package func list(sizes: Bool = false) async throws(BackplaneError) -> [StoreCollection] {
        var list: [StoreCollection] = []
        for namespace in try await namespaces() {
            for collection in try await collections(in: namespace) {
                let name = collection.definition.name
                list.append(
                    StoreCollection(
                        namespace: namespace, collection: name, records: collection.count, change: collection.change,
                        indexes: collection.definition.indexes,
                        bytes: sizes ? try await size(of: name, in: namespace) : nil))
            }
        }
        return list
    }

    /// Returns a page of a collection in the order of the ids, or only the record with an id.
    package func read(_ collection: String, id: String?, after: PageCursor?, limit: Int, in namespace: String)
        async throws(BackplaneError) -> RecordPage
    {
        var query = RecordQuery(collection: collection, after: after, limit: limit)
        if let id { query.selection = .ids([id]) }
        return try await read(query, in: namespace)
    }

    /// Adds indexes to those that a collection has.
    package func add(_ indexes: [IndexDefinition], to collection: String, in namespace: String)
        async throws(BackplaneError)
    {
        let known = try await collections(in: namespace).map(\.definition).first {
            $0.name.utf8.elementsEqual(collection.utf8)
        }
        let new = indexes.filter { index in
            known?.indexes.contains { $0.name.utf8.elementsEqual(index.name.utf8) } != true
        }
        guard !new.isEmpty else { return }
        try await define(CollectionDefinition(collection, indexes: (known?.indexes ?? []) + new), in: namespace)
    }

    /// Stores records atomically.
    ///
    /// - Parameter isOverwriting: Whether a record with the same id is replaced.
    /// - Throws: `store.conflict` if there is a record with the same id and it is not to be replaced.
    package func restore(
        _ records: [(collection: String, record: StoredRecord)], overwriting isOverwriting: Bool, in namespace: String
    ) async throws(BackplaneError) {
        let conditions: [RecordCondition] =
            isOverwriting ? [] : records.map { .version(collection: $0.collection, id: $0.record.id, 0) }
        _ = try await write(
            RecordBatch(records.map { .save(collection: $0.collection, $0.record) }, if: conditions), in: namespace)
    }
}
