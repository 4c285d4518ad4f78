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
    package var namespace: String?
    package var collection: String?
    package var id: String?
    /// The `next` of the previous page; `nil` for the first page.
    package var after: [UInt8]?
    package var limit: Int?
    package var indexes: [IndexDefinition]?
    package var records: [Record]?
    /// A Boolean value that indicates whether `write` replaces records of the same id instead of reporting a conflict.
    package var overwrites = false
    package var sizes = false

    package struct Answer: Codable, Sendable {
        package var folder: String?
        package var collections: [StoreCollection]?
        package var records: [Record]?
        package var next: [UInt8]?
        package var damage: [BackplaneError]?
    }

    /// A record in a page or in a `write` request.
    package struct Record: Codable, Sendable, Hashable {
        package var collection: String?
        package var id: String
        /// The record's JSON as a string, so that it arrives byte for byte; in base64 if it is not UTF-8.
        package var value: String
        package var base64: Bool
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
        let folder = try host.recordFolder
        var answer = try await request.answer(from: host.records)
        if request.operation == .list { answer.folder = folder }
        return answer
    }

    /// Performs the request on a store; a command does this directly if no host has the store open.
    package func answer(from store: any RecordStore) async throws(BackplaneError) -> Answer {
        var answer = Answer()
        switch operation {
        case .list: answer.collections = try await collections(of: store)
        case .read:
            let after = after.map { PageCursor(bytes: $0) }
            var query = RecordQuery(
                collection: try given(collection, "collection"), after: after, limit: limit ?? 100)
            if let id { query.selection = .ids([id]) }
            let page = try await store.read(query, in: try given(namespace, "namespace"))
            answer.records = page.records.map { Record($0, version: $0.version) }
            answer.next = page.next?.bytes
        case .define: try await define(in: store)
        case .write:
            var conditions: [RecordCondition] = [], changes: [RecordChange] = []
            for sent in records ?? [] {
                let collection = try given(sent.collection, "records/collection")
                changes.append(.save(collection: collection, try sent.record()))
                if !overwrites { conditions.append(.version(collection: collection, id: sent.id, 0)) }
            }
            _ = try await store.write(RecordBatch(changes, if: conditions), in: try given(namespace, "namespace"))
        case .check: answer.damage = try await store.findDamage()
        }
        return answer
    }

    private func collections(of store: any RecordStore) async throws(BackplaneError) -> [StoreCollection] {
        var list: [StoreCollection] = []
        for namespace in try await store.namespaces() {
            for collection in try await store.collections(in: namespace) {
                let name = collection.definition.name
                list.append(
                    StoreCollection(
                        namespace: namespace, collection: name, records: collection.count, change: collection.change,
                        changed: collection.changed, indexes: collection.definition.indexes,
                        bytes: sizes ? try await store.size(of: name, in: namespace) : nil))
            }
        }
        return list
    }

    /// Adds indexes to the existing indexes of the collection.
    private func define(in store: any RecordStore) async throws(BackplaneError) {
        let name = try given(collection, "collection"), namespace = try given(namespace, "namespace")
        let known = try await store.collections(in: namespace).map(\.definition).first {
            $0.name.utf8.elementsEqual(name.utf8)
        }
        let new = (indexes ?? []).filter { index in
            known?.indexes.contains { $0.name.utf8.elementsEqual(index.name.utf8) } != true
        }
        guard !new.isEmpty else { return }
        try await store.define(CollectionDefinition(name, indexes: (known?.indexes ?? []) + new), in: namespace)
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
    package var records: Int
    package var change: Int64
    /// The time of the last change, in seconds since 1970.
    package var changed: Int64?
    package var indexes: [IndexDefinition]
    package var bytes: Int64?

    /// The name of the collection within the store.
    package var place: String { "\(namespace)/\(collection)" }
}

extension IndexDefinition: Codable {
    private struct Form: Codable {
        var name: String
        var paths: [String]
        var unique: Bool
        var tokenizer: String?
        var prefixes: [Int]?
    }

    /// Decodes an index, which is an index of words if it has a `tokenizer`.
    public init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        // A tokenizer of a later version is replaced by the most general one.
        let text = form.tokenizer.map {
            TextIndexing(TextTokenizer(rawValue: $0) ?? .unicode, prefixes: form.prefixes ?? [])
        }
        self.init(paths: form.paths, name: form.name, isUnique: form.unique, text: text)
    }

    /// Encodes the index as an object.
    public func encode(to encoder: any Encoder) throws {
        let form = Form(
            name: name, paths: paths, unique: isUnique, tokenizer: text?.tokenizer.rawValue, prefixes: text?.prefixes)
        try form.encode(to: encoder)
    }
}
