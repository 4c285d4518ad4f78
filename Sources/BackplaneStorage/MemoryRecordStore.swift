public import Backplane
import Synchronization

/// A record store in memory, whose content is not saved: for tests, and for hosts without engines.
public final class MemoryRecordStore: RecordStore {
    private struct Key: Hashable {
        var namespace, collection: String
    }
    /// The records by the bytes of their ids, because different ids may be equal as texts.
    private let collections = Mutex<[Key: [[UInt8]: [UInt8]]]>([:])

    /// Creates an empty store.
    public init() {}

    /// Applies all changes in order.
    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        collections.withLock { collections in
            for change in changes {
                switch change {
                case .save(let collection, let record):
                    collections[Key(namespace: namespace, collection: collection), default: [:]][
                        Array(record.id.utf8)] = record.value
                case .delete(let collection, let id):
                    collections[Key(namespace: namespace, collection: collection)]?[Array(id.utf8)] = nil
                case .deleteAll(let collection):
                    collections[Key(namespace: namespace, collection: collection)] = nil
                }
            }
        }
    }

    /// Returns the records that a query selects, in the order of their ids' bytes.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        let collection = collections.withLock { $0[Key(namespace: namespace, collection: query.collection)] ?? [:] }
        let ids =
            query.ids.map { Set($0.map { Array($0.utf8) }).filter { collection[$0] != nil } } ?? Set(collection.keys)
        let wanted = ids.sorted { $0.lexicographicallyPrecedes($1) }.dropFirst(query.offset).prefix(query.limit)
        return RecordPage(
            records: wanted.map { StoredRecord(id: String(decoding: $0, as: UTF8.self), value: collection[$0] ?? []) },
            total: ids.count)
    }
}
