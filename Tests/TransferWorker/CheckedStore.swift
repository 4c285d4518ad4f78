import Backplane
import BackplaneRecords
import BackplaneStorage
import SyncCounter

/// A store that compares what the states of downloads claim with what the disk was waited for.
struct CheckedStore: RecordStore {
    let store: any RecordStore
    /// The bytes that the store claimed before this process began.
    let before: Int64

    init(_ store: any RecordStore) async throws(BackplaneError) {
        self.store = store
        let query = RecordQuery(collection: "transfers", ids: ["whale"])
        before = try await store.read(query, in: "@transfers").records.first.map(Self.claim) ?? 0
    }

    private static func claim(_ record: StoredRecord) -> Int64 {
        String(decoding: record.value, as: UTF8.self).firstMatch(of: /"bytes":(\d+)/).flatMap { Int64($0.1) } ?? 0
    }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        let synced = max(before, synchronized_part())
        for case .save("transfers", let record) in batch.changes {
            let claimed = Self.claim(record)
            if claimed > synced {
                TransferWorker.say("error: \(claimed) bytes are claimed, of which the disk has \(synced)\n")
            }
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
