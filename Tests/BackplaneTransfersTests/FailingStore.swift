import Backplane
import BackplaneRecords
import BackplaneStorage
import Synchronization

/// A store in memory whose writes can be made to fail.
final class FailingStore: RecordStore {
    let fails = Atomic(false)
    private let store = MemoryRecordStore()

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        guard !fails.load(ordering: .relaxed) else { throw BackplaneError(.storeUnusable, "the disk is full") }
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
