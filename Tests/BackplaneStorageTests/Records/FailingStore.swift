import Backplane
import BackplaneRecords
import BackplaneStorage

/// A store that refuses writes after a number of them, as one whose disk is full does.
final class FailingStore: RecordStore {
    private let store: any RecordStore
    private let left = Recorder<Int?>(nil)

    init(_ store: any RecordStore) { self.store = store }

    /// Allows so many writes; `nil` for any number.
    func allowWrites(_ count: Int?) { left.value = count }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        if let left = left.value {
            guard left > 0 else { throw BackplaneError(.storeUnusable, "the disk is full") }
            self.left.value = left - 1
        }
        return try await store.write(batch, in: namespace)
    }

    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await store.define(collection, in: namespace)
    }
    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await store.read(query, in: namespace)
    }
    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await store.count(query, in: namespace)
    }
    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await store.changes(of: collection, since: number, limit: limit, in: namespace)
    }
    func namespaces() async throws(BackplaneError) -> [String] { try await store.namespaces() }
    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await store.collections(in: namespace)
    }
}
