public import Backplane
public import BackplaneRecords
public import BackplaneStorage
import Synchronization

/// The host's record store in memory, which a test can fill, inspect and make fail.
///
/// Records are in the namespace of their data access controller, which is its `namespace` in the manifest or, by
/// default, its class name. The namespace of a ``Fake`` that uses a class of the test is `Fake.` and the class name.
public final class TestStore: RecordStore {
    private let memory = MemoryRecordStore()
    private let fault = Mutex<BackplaneError?>(nil)

    /// Creates an empty store.
    public init() {}

    /// The error that every access by a component throws; `nil` for none.
    ///
    /// The test itself can still read and write.
    public var failure: BackplaneError? {
        get { fault.withLock(\.self) }
        set { fault.withLock { $0 = newValue } }
    }

    /// Replaces the indexes of a component's collection with the indexes of a definition.
    ///
    /// - Throws: ``failure``, if set.
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        if let failure { throw failure }
        try await memory.define(collection, in: namespace)
    }

    /// Applies all changes of a component in order.
    ///
    /// - Throws: ``failure``, if set.
    public func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        if let failure { throw failure }
        return try await memory.write(batch, in: namespace)
    }

    /// Returns one page of the records that a component's query selects.
    ///
    /// - Throws: ``failure``, if set.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        if let failure { throw failure }
        return try await memory.read(query, in: namespace)
    }

    /// Returns the number of records that a component's query selects.
    ///
    /// - Throws: ``failure``, if set.
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        if let failure { throw failure }
        return try await memory.count(query, in: namespace)
    }

    /// Returns changes of a component's collection.
    ///
    /// - Throws: ``failure``, if set.
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        if let failure { throw failure }
        return try await memory.changes(of: collection, since: number, limit: limit, in: namespace)
    }

    /// Waits until a component's collection has a change after a number, including changes by the test.
    ///
    /// - Throws: ``failure``, if set; `call.cancelled`.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        if let failure { throw failure }
        try await memory.waitForChange(of: collection, since: number, in: namespace)
    }

    /// Returns the namespaces that have collections.
    public func namespaces() async throws(BackplaneError) -> [String] { try await memory.namespaces() }

    /// Returns the collections of a namespace.
    public func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await memory.collections(in: namespace)
    }
}

/// Access to records for the test itself.
extension TestStore {
    /// Stores records as if the component had stored them.
    public func save<R: Record>(_ records: R..., in namespace: String) async throws(BackplaneError) {
        for record in records {
            let value = try StoredForm.encode(record)
            try await memory.write(
                [.save(collection: R.collection, StoredRecord(id: record.id, value: value))], in: namespace)
        }
    }

    /// Stores the JSON of a record whose type is not available to the test.
    public func save(json: String, as id: String, of collection: String, in namespace: String)
        async throws(BackplaneError)
    {
        try await memory.write(
            [.save(collection: collection, StoredRecord(id: id, value: Array(json.utf8)))], in: namespace)
    }

    /// Returns the records of a type in the order of their ids.
    ///
    /// - Throws: `store.undecodable` if one of them is not an `R`.
    public func all<R: Record>(_: R.Type = R.self, in namespace: String) async throws(BackplaneError) -> [R] {
        return try await records(of: R.collection, in: namespace).map { (record) throws(BackplaneError) in
            try StoredForm.decode(R.self, record)
        }
    }

    /// Returns the ids of a collection's records, in order.
    public func ids(of collection: String, in namespace: String) async -> [String] {
        ((try? await records(of: collection, in: namespace)) ?? []).map(\.id)
    }

    private func records(of collection: String, in namespace: String) async throws(BackplaneError) -> [StoredRecord] {
        try await memory.page(of: collection, in: namespace).records
    }

    /// Returns a record as JSON, or `nil` if there is none with the id.
    public func json(_ id: String, of collection: String, in namespace: String) async -> String? {
        let page = try? await memory.read(RecordQuery(collection: collection, ids: [id]), in: namespace)
        return page?.records.first.map { String(decoding: $0.value, as: UTF8.self) }
    }
}
