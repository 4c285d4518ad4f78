public import Backplane
public import BackplaneStorage
import Synchronization

/// The host's record store in memory, which a test can fill, look at and let fail.
///
/// Records lie in the namespace of their data access controller: what its manifest calls `namespace`, by default its class name;
/// of a ``Fake`` with a class of the test's own, `Fake.` and its name.
public final class TestStore: RecordStore {
    private let memory = MemoryRecordStore()
    private let fault = Mutex<BackplaneError?>(nil)

    public init() {}

    /// What every reading and writing by a component fails with; `nil`: nothing. The test itself still reads and writes.
    public var failure: BackplaneError? {
        get { fault.withLock(\.self) }
        set { fault.withLock { $0 = newValue } }
    }

    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        if let failure { throw failure }
        try await memory.write(changes, in: namespace)
    }

    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        if let failure { throw failure }
        return try await memory.read(query, in: namespace)
    }
}

/// Records as a test keeps and sees them.
extension TestStore {
    /// Keeps records as if the component had.
    public func save<R: Record>(_ records: R..., in namespace: String) async throws(BackplaneError) {
        for record in records {
            let value = try JSON.encode(record, failing: .callInvalidInput)
            try await memory.write([.save(collection: R.collection, StoredRecord(id: record.id, value: value))], in: namespace)
        }
    }

    /// Keeps a record of a type that the test does not have, as JSON.
    public func save(json: String, as id: String, of collection: String, in namespace: String) async throws(BackplaneError) {
        try await memory.write([.save(collection: collection, StoredRecord(id: id, value: Array(json.utf8)))], in: namespace)
    }

    /// The records of a type, in the order of their ids.
    ///
    /// - Throws: `store.undecodable` when one of them is not an `R`.
    public func all<R: Record>(_: R.Type = R.self, in namespace: String) async throws(BackplaneError) -> [R] {
        let page = try await memory.read(RecordQuery(collection: R.collection), in: namespace)
        return try page.records.map { (record) throws(BackplaneError) in try JSON.decode(R.self, record.value, failing: .storeUndecodable) }
    }

    /// The ids of a collection's records, in order.
    public func ids(of collection: String, in namespace: String) async -> [String] {
        ((try? await memory.read(RecordQuery(collection: collection), in: namespace))?.records ?? []).map(\.id)
    }

    /// A record as JSON; `nil`: there is none with this id.
    public func json(_ id: String, of collection: String, in namespace: String) async -> String? {
        let page = try? await memory.read(RecordQuery(collection: collection, ids: [id]), in: namespace)
        return page?.records.first.map { String(decoding: $0.value, as: UTF8.self) }
    }
}
