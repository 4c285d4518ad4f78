public import Backplane
import Synchronization

/// Keeps records in memory, for as long as the process lives: for tests, and for hosts without engines.
public final class MemoryRecordStore: RecordStore {
    private struct Key: Hashable {
        var namespace, collection: String
    }
    private let collections = Mutex<[Key: [String: [UInt8]]]>([:])

    public init() {}

    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        collections.withLock { collections in
            for change in changes {
                switch change {
                case .save(let collection, let record):
                    collections[Key(namespace: namespace, collection: collection), default: [:]][record.id] = record.value
                case .delete(let collection, let id):
                    collections[Key(namespace: namespace, collection: collection)]?[id] = nil
                case .deleteAll(let collection):
                    collections[Key(namespace: namespace, collection: collection)] = nil
                }
            }
        }
    }

    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        let collection = collections.withLock { $0[Key(namespace: namespace, collection: query.collection)] ?? [:] }
        let ids = query.ids.map { Set($0).filter { collection[$0] != nil } } ?? Set(collection.keys)
        let wanted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.dropFirst(query.offset).prefix(query.limit)
        return RecordPage(records: wanted.map { StoredRecord(id: $0, value: collection[$0] ?? []) }, total: ids.count)
    }
}
