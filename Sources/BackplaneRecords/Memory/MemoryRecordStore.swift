public import Backplane
public import BackplaneStorage
import Synchronization

/// A record store in memory, whose content is not saved: for tests, and for hosts without engines.
///
/// It does not support full-text search.
public final class MemoryRecordStore: RecordStore {
    private let state = Mutex(MemoryRecords())
    private let signals = ChangeSignals()

    /// Creates an empty store.
    public init() {}

    /// Sets the indexes of a collection to those of a definition.
    ///
    /// - Throws: `store.duplicate`; `call.invalid-input`.
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(collection)
        try state.withLock { records throws(BackplaneError) in try records.define(collection, in: namespace) }
    }

    /// Applies all changes atomically and in order.
    ///
    /// - Throws: `store.conflict`; `store.duplicate`; `call.invalid-input`.
    public func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(batch)
        let numbers = try state.withLock { records throws(BackplaneError) in try records.write(batch, in: namespace) }
        signals.written(batch, in: namespace)
        return numbers
    }

    /// Returns one page of the records that a query selects.
    ///
    /// - Throws: `store.conflict`; `store.unindexed`; `store.unsupported` for a search; `call.invalid-input`.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try state.withLock { records throws(BackplaneError) in try records.page(query, in: namespace) }
    }

    /// Returns the number of records that a query selects.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try state.withLock { records throws(BackplaneError) in try records.count(query, in: namespace) }
    }

    /// Returns changes of a collection from its log.
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        state.withLock { $0.changes(of: collection, since: number, limit: limit, in: namespace) }
    }

    /// Waits until a collection has a change after a number.
    ///
    /// - Throws: `call.cancelled`.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        try await signals.wait(for: collection, in: namespace, since: number) {
            state.withLock { $0.lastChange(of: collection, in: namespace) }
        }
    }

    /// The number of tasks that wait for a change.
    package var waitingTasks: Int { signals.waitingTasks }

    /// Returns the namespaces that have collections.
    public func namespaces() async throws(BackplaneError) -> [String] { state.withLock { $0.namespaces } }

    /// Returns the collections of a namespace.
    public func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        state.withLock { $0.collections(in: namespace) }
    }
}
