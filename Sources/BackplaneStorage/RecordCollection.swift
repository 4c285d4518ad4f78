public import Backplane

/// The stored records of one type, for a data access controller.
///
/// Every function throws `store.unusable` if the host's store cannot be read or written, and `call.retired` once the
/// component has stopped.
public struct RecordCollection<R: Record>: Sendable {
    private let exchange: StoreExchange

    init(_ exchange: StoreExchange) { self.exchange = exchange }

    /// Stores a record and replaces the one with the same id.
    ///
    /// - Throws: `call.invalid-input` if the record cannot be encoded.
    public func save(_ record: R) async throws(BackplaneError) {
        try await save([record])
    }

    /// Stores all records or none.
    ///
    /// - Throws: `call.invalid-input` if a record cannot be encoded.
    public func save(_ records: [R]) async throws(BackplaneError) {
        try await exchange.write(try records.map(Self.change))
    }

    /// Replaces the content of the collection, or changes nothing.
    ///
    /// - Throws: `call.invalid-input` if a record cannot be encoded.
    public func replaceAll(with records: [R]) async throws(BackplaneError) {
        try await exchange.write([.deleteAll(collection: R.collection)] + (try records.map(Self.change)))
    }

    /// Returns the record with an id, or `nil` if there is none.
    ///
    /// - Throws: `store.undecodable` if the stored value is not an `R`.
    public func fetch(_ id: String) async throws(BackplaneError) -> R? {
        try await exchange.read(RecordQuery(collection: R.collection, ids: [id])).records.map(Self.record).first
    }

    /// Returns records in the order of their ids, all of them or a page.
    ///
    /// - Parameters:
    ///   - offset: The number of records to skip.
    ///   - limit: The greatest number of records to return.
    /// - Throws: `store.undecodable` if one of them is not an `R`.
    public func all(offset: Int = 0, limit: Int = .max) async throws(BackplaneError) -> [R] {
        try await exchange.read(RecordQuery(collection: R.collection, offset: offset, limit: limit)).records.map(
            Self.record)
    }

    /// Returns the number of records in the collection.
    public func count() async throws(BackplaneError) -> Int {
        try await exchange.read(RecordQuery(collection: R.collection, limit: 0)).total
    }

    /// Deletes the record with an id, if there is one.
    public func delete(_ id: String) async throws(BackplaneError) {
        try await exchange.write([.delete(collection: R.collection, id: id)])
    }

    /// Empties the collection.
    public func deleteAll() async throws(BackplaneError) {
        try await exchange.write([.deleteAll(collection: R.collection)])
    }

    private static func change(_ record: R) throws(BackplaneError) -> RecordChange {
        .save(
            collection: R.collection,
            StoredRecord(id: record.id, value: try JSON.encode(record, failing: .callInvalidInput)))
    }

    private static func record(_ stored: StoredRecord) throws(BackplaneError) -> R {
        do throws(BackplaneError) {
            return try JSON.decode(R.self, stored.value, failing: .storeUndecodable)
        } catch {
            throw BackplaneError(error.code, error.message, at: "\(R.collection)/\(stored.id)\(error.location ?? "")")
        }
    }
}
