public import Backplane
public import BackplaneRecords
public import BackplaneStorage
import Synchronization

/// A store that forwards all operations that it does not implement to another store.
public protocol PassingStore: RecordStore {
    var store: any RecordStore { get }
}

extension PassingStore {
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await store.define(collection, in: namespace)
    }
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await store.read(query, in: namespace)
    }
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await store.count(query, in: namespace)
    }
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await store.changes(of: collection, since: number, limit: limit, in: namespace)
    }
    public func namespaces() async throws(BackplaneError) -> [String] { try await store.namespaces() }
    public func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await store.collections(in: namespace)
    }
}

/// A store that refuses writes after a number of them, as with a full disk.
public final class FailingStore: PassingStore {
    public let store: any RecordStore
    private let left = Mutex<Int?>(nil)

    public init(_ store: any RecordStore) { self.store = store }

    /// Allows a number of writes, or any number for `nil`.
    public func allowWrites(_ count: Int?) { left.withLock { $0 = count } }

    public func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        try left.withLock { left throws(BackplaneError) in
            guard let count = left else { return }
            guard count > 0 else { throw BackplaneError(.storeUnusable, "the disk is full") }
            left = count - 1
        }
        return try await store.write(batch, in: namespace)
    }
}
