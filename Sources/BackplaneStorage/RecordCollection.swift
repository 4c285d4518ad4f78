public import Backplane

/// The records of one type, as a data access controller keeps them.
///
/// Every function throws `store.unusable` when the host's store cannot be read or written, and `call.retired` once the
/// component has stopped.
public struct RecordCollection<R: Record>: Sendable {
    private let exchange: StoreExchange

    init(_ exchange: StoreExchange) { self.exchange = exchange }

    /// Keeps a record, in place of the one with its id.
    public func save(_ record: R) async throws(BackplaneError) {
        try await save([record])
    }

    /// Keeps all of them or none.
    public func save(_ records: [R]) async throws(BackplaneError) {
        try await exchange.write(try records.map(Self.change))
    }

    /// Makes these the only records of the collection, or changes nothing.
    public func replaceAll(with records: [R]) async throws(BackplaneError) {
        try await exchange.write([.deleteAll(collection: R.collection)] + (try records.map(Self.change)))
    }

    /// The record with an id; `nil` when there is none.
    ///
    /// - Throws: `store.undecodable` when what is kept there is not an `R`.
    public func fetch(_ id: String) async throws(BackplaneError) -> R? {
        try await exchange.read(RecordQuery(collection: R.collection, ids: [id])).records.map(Self.record).first
    }

    /// Records in the order of their ids, all of them or a page.
    ///
    /// - Throws: `store.undecodable` when one of them is not an `R`.
    public func all(offset: Int = 0, limit: Int = .max) async throws(BackplaneError) -> [R] {
        try await exchange.read(RecordQuery(collection: R.collection, offset: offset, limit: limit)).records.map(Self.record)
    }

    public func count() async throws(BackplaneError) -> Int {
        try await exchange.read(RecordQuery(collection: R.collection, limit: 0)).total
    }

    /// Does nothing where there is no record with this id.
    public func delete(_ id: String) async throws(BackplaneError) {
        try await exchange.write([.delete(collection: R.collection, id: id)])
    }

    public func deleteAll() async throws(BackplaneError) {
        try await exchange.write([.deleteAll(collection: R.collection)])
    }

    private static func change(_ record: R) throws(BackplaneError) -> RecordChange {
        .save(collection: R.collection, StoredRecord(id: record.id, value: try JSON.encode(record, failing: .callInvalidInput)))
    }

    private static func record(_ stored: StoredRecord) throws(BackplaneError) -> R {
        do throws(BackplaneError) {
            return try JSON.decode(R.self, stored.value, failing: .storeUndecodable)
        } catch {
            throw BackplaneError(error.code, error.message, at: "\(R.collection)/\(stored.id)\(error.location ?? "")")
        }
    }
}
