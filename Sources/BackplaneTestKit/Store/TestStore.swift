public import Backplane
public import BackplaneStorage
import Synchronization

/// The host's record store in memory, which a test can fill, inspect and make fail.
///
/// Records are in the namespace of their data access controller: its `namespace` in the manifest, by default its class
/// name. The namespace of a ``Fake`` with a class of the test's own is `Fake.` and the class name.
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

    /// Applies all changes of a component in order.
    ///
    /// - Throws: ``failure``, if there is one.
    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        if let failure { throw failure }
        try await memory.write(changes, in: namespace)
    }

    /// Returns the records that a component's query selects.
    ///
    /// - Throws: ``failure``, if there is one.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        if let failure { throw failure }
        return try await memory.read(query, in: namespace)
    }
}

/// Access to records for the test itself.
extension TestStore {
    /// Stores records as if the component had.
    public func save<R: Record>(_ records: R..., in namespace: String) async throws(BackplaneError) {
        for record in records {
            let value = try JSON.encode(record, failing: .callInvalidInput)
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
        let page = try await memory.read(RecordQuery(collection: R.collection), in: namespace)
        return try page.records.map { (record) throws(BackplaneError) in
            try JSON.decode(R.self, record.value, failing: .storeUndecodable)
        }
    }

    /// Returns the ids of a collection's records, in order.
    public func ids(of collection: String, in namespace: String) async -> [String] {
        ((try? await memory.read(RecordQuery(collection: collection), in: namespace))?.records ?? []).map(\.id)
    }

    /// Returns a record as JSON, or `nil` if there is none with this id.
    public func json(_ id: String, of collection: String, in namespace: String) async -> String? {
        let page = try? await memory.read(RecordQuery(collection: collection, ids: [id]), in: namespace)
        return page?.records.first.map { String(decoding: $0.value, as: UTF8.self) }
    }
}
