public import Backplane

/// The stored records of one type, for a data access controller.
///
/// Every function throws `store.unusable` if the host's store cannot be read or written, `store.damaged` if its file is
/// damaged, `call.cancelled` if its task is cancelled, and `call.retired` once the component has stopped. When a
/// collection is first used, its indexes are created as declared, and records of an older ``Record/schema`` are
/// migrated.
public struct RecordCollection<R: Record>: Sendable {
    let part: StorePart
    private let access: any StoreAccess

    init(_ part: StorePart, _ access: any StoreAccess) { (self.part, self.access) = (part, access) }

    // MARK: Writing

    /// Stores a record, and replaces the record with the same id.
    ///
    /// - Returns: The new version of the record; 0 in a transaction, which assigns versions at its end.
    /// - Throws: `call.invalid-input` if the record cannot be encoded; `store.duplicate` if another record has the same
    ///   values in a unique index.
    @discardableResult
    public func save(_ record: R) async throws(BackplaneError) -> Int64 {
        try await write([Self.change(record)])[0]
    }

    /// Stores a record if the stored record with its id has the given version, and otherwise changes nothing.
    ///
    /// - Returns: The new version of the record; 0 in a transaction.
    /// - Throws: `store.conflict` if the stored record has another version or was deleted; and the errors of
    ///   ``save(_:)-(R)``.
    @discardableResult
    public func save(_ record: R, ifVersion version: Int64) async throws(BackplaneError) -> Int64 {
        try await write([Self.change(record)], if: [.version(collection: R.collection, id: record.id, version)])[0]
    }

    /// Stores a record if no record with its id is stored, and otherwise changes nothing.
    ///
    /// - Returns: The version of the record; 0 in a transaction.
    /// - Throws: `store.conflict` if there is a record with the id; and the errors of ``save(_:)-(R)``.
    @discardableResult
    public func saveIfAbsent(_ record: R) async throws(BackplaneError) -> Int64 { try await save(record, ifVersion: 0) }

    /// Stores all records atomically.
    ///
    /// - Throws: The errors of ``save(_:)-(R)`` for one of them.
    public func save(_ records: [R]) async throws(BackplaneError) {
        _ = try await write(try records.map(Self.change))
    }

    /// Replaces the content of the collection, or changes nothing.
    ///
    /// - Throws: The errors of ``save(_:)-(R)`` for one of the records.
    public func replaceAll(with records: [R]) async throws(BackplaneError) {
        _ = try await write([.deleteAll(collection: R.collection)] + (try records.map(Self.change)))
    }

    /// Deletes the record with an id, if there is one.
    public func delete(_ id: String) async throws(BackplaneError) {
        _ = try await write([.delete(collection: R.collection, id: id)])
    }

    /// Deletes the record with an id if it has the given version, and otherwise changes nothing.
    ///
    /// - Throws: `store.conflict`.
    public func delete(_ id: String, ifVersion version: Int64) async throws(BackplaneError) {
        _ = try await write(
            [.delete(collection: R.collection, id: id)], if: [.version(collection: R.collection, id: id, version)])
    }

    /// Deletes the records with these ids together.
    public func delete(_ ids: [String]) async throws(BackplaneError) {
        _ = try await write(ids.map { .delete(collection: R.collection, id: $0) })
    }

    /// Empties the collection.
    public func deleteAll() async throws(BackplaneError) {
        _ = try await write([.deleteAll(collection: R.collection)])
    }

    private func write(_ changes: [RecordChange], if conditions: [RecordCondition] = []) async throws(BackplaneError)
        -> [Int64]
    {
        try await part.prepare(R.self)
        return try await access.write(RecordBatch(changes, if: conditions))
    }

    private static func change(_ record: R) throws(BackplaneError) -> RecordChange {
        .save(collection: R.collection, StoredRecord(id: record.id, value: try StoredForm.encode(record)))
    }

    // MARK: Reading

    /// Returns the record with an id, or `nil` if there is none.
    ///
    /// - Throws: `store.undecodable` if the stored value is not an `R`.
    public func fetch(_ id: String) async throws(BackplaneError) -> R? { try await fetchVersioned(id)?.record }

    /// Returns the record with an id, together with its version, or `nil` if there is none.
    ///
    /// - Throws: `store.undecodable` if the stored value is not an `R`.
    public func fetchVersioned(_ id: String) async throws(BackplaneError) -> Versioned<R>? {
        let list = try await read(StoreSelection(collection: R.collection, ids: [id]))
        if let unreadable = list.unreadable.first { throw unreadable.error }
        return list.versioned.first
    }

    /// Returns all records in the order of their ids; they have to fit in memory.
    ///
    /// Records that cannot be decoded are skipped, with a warning in the log.
    public func all() async throws(BackplaneError) -> [R] { try await query().all() }

    /// Returns the number of records in the collection.
    public func count() async throws(BackplaneError) -> Int { try await query().count() }

    // MARK: Queries

    // A value that is not a number, a string, a Boolean or `null` in JSON is an error when the selection is used.

    /// Returns all records in the order of their ids, which are compared by their UTF-8 bytes.
    public func query() -> RecordSelection<R> { select { .init() } }

    /// Returns the records whose ids begin with a prefix, in the order of their ids.
    public func query(idPrefix prefix: String) -> RecordSelection<R> {
        select { () throws(BackplaneError) in .init(from: try Self.json(prefix), isPrefix: true) }
    }

    /// Returns all records in the order of an index, and of their ids where values are equal.
    public func query<Value>(_ index: KeyPath<R.Indexes, Indexed<Value>>) -> RecordSelection<R> {
        select { .init(index: Self.name(index)) }
    }

    /// Returns the records with exactly the given value of an indexed property.
    public func query<Value: Encodable>(_ index: KeyPath<R.Indexes, Indexed<Value>>, equal value: Value)
        -> RecordSelection<R>
    {
        select { () throws(BackplaneError) in .init(index: Self.name(index), equal: [try Self.json(value)]) }
    }

    /// Returns the records whose values are at least a bound, in the order of the index.
    public func query<Value: Encodable>(_ index: KeyPath<R.Indexes, Indexed<Value>>, from: Value)
        -> RecordSelection<R>
    {
        select { () throws(BackplaneError) in .init(index: Self.name(index), from: try Self.json(from)) }
    }

    /// Returns the records whose values are below an upper bound and not below an optional lower bound.
    public func query<Value: Encodable>(
        _ index: KeyPath<R.Indexes, Indexed<Value>>, from: Value? = nil, upTo end: Value
    ) -> RecordSelection<R> {
        select { () throws(BackplaneError) in
            .init(index: Self.name(index), from: try Self.json(limit: from), to: try Self.json(end))
        }
    }

    /// Returns the records whose values are at most an upper bound and not below an optional lower bound.
    public func query<Value: Encodable>(
        _ index: KeyPath<R.Indexes, Indexed<Value>>, from: Value? = nil, through end: Value
    ) -> RecordSelection<R> {
        select { () throws(BackplaneError) in
            .init(
                index: Self.name(index), from: try Self.json(limit: from), to: try Self.json(end), isToIncluded: true)
        }
    }

    /// Returns the records whose values begin with a prefix, in the order of the index.
    public func query(_ index: KeyPath<R.Indexes, Indexed<String>>, prefix: String) -> RecordSelection<R> {
        select { () throws(BackplaneError) in
            .init(index: Self.name(index), from: try Self.json(prefix), isPrefix: true)
        }
    }

    /// Returns all records in the order of an index over two properties.
    public func query<First, Second>(_ index: KeyPath<R.Indexes, IndexedPair<First, Second>>) -> RecordSelection<R> {
        select { .init(index: Self.name(index)) }
    }

    /// Returns the records with a first value, in the order of the second.
    public func query<First: Encodable, Second>(
        _ index: KeyPath<R.Indexes, IndexedPair<First, Second>>, equal first: First
    ) -> RecordSelection<R> {
        select { () throws(BackplaneError) in .init(index: Self.name(index), equal: [try Self.json(first)]) }
    }

    /// Returns the records with two values.
    public func query<First: Encodable, Second: Encodable>(
        _ index: KeyPath<R.Indexes, IndexedPair<First, Second>>, equal first: First, _ second: Second
    ) -> RecordSelection<R> {
        select { () throws(BackplaneError) in
            .init(index: Self.name(index), equal: [try Self.json(first), try Self.json(second)])
        }
    }

    /// Returns the records with a first value, and a second value from a lower bound up to an optional, excluded upper
    /// bound.
    public func query<First: Encodable, Second: Encodable>(
        _ index: KeyPath<R.Indexes, IndexedPair<First, Second>>, equal first: First, from: Second,
        upTo end: Second? = nil
    ) -> RecordSelection<R> {
        select { () throws(BackplaneError) in
            .init(
                index: Self.name(index), equal: [try Self.json(first)], from: try Self.json(from),
                to: try Self.json(limit: end))
        }
    }

    private func select(_ range: () throws(BackplaneError) -> StoreSelection.Range) -> RecordSelection<R> {
        do throws(BackplaneError) {
            let selection = StoreSelection(collection: R.collection, range: try range())
            return RecordSelection(collection: self, selection: .success(selection))
        } catch {
            return RecordSelection(collection: self, selection: .failure(error))
        }
    }

    private static func name<Value>(_ index: KeyPath<R.Indexes, Indexed<Value>>) -> String {
        R.Indexes()[keyPath: index].declared.name
    }

    private static func name<First, Second>(_ index: KeyPath<R.Indexes, IndexedPair<First, Second>>) -> String {
        R.Indexes()[keyPath: index].declared.name
    }

    private static func json(_ value: some Encodable) throws(BackplaneError) -> [UInt8] {
        let json = try JSON.encode(value, failing: .callInvalidInput)
        guard json.first != UInt8(ascii: "{"), json.first != UInt8(ascii: "[") else {
            throw BackplaneError(
                .callInvalidInput,
                "expected a value that is a JSON number, string, Boolean or `null`, found an array or an object",
                at: R.collection)
        }
        return json
    }

    private static func json(limit: (some Encodable)?) throws(BackplaneError) -> [UInt8]? {
        if let limit { try json(limit) } else { nil }
    }
}

// MARK: Selections

extension RecordCollection {
    func read(_ selection: StoreSelection) async throws(BackplaneError) -> RecordList<R> {
        let page = try await self.page(selection)
        var list = RecordList<R>(versioned: [], unreadable: [], next: page.next)
        for stored in page.records {
            do throws(BackplaneError) {
                list.versioned.append(
                    Versioned(record: try StoredForm.decode(R.self, stored), version: stored.version))
            } catch {
                list.unreadable.append(
                    UnreadableRecord(id: stored.id, json: stored.value, version: stored.version, error: error))
            }
        }
        return list
    }

    func page(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage {
        try await part.prepare(R.self)
        return try await access.read(selection)
    }

    func count(_ selection: StoreSelection) async throws(BackplaneError) -> Int {
        try await part.prepare(R.self)
        return try await access.count(selection)
    }

    /// Logs a warning for a skipped record; only the first ones of a read are logged.
    func report(_ record: UnreadableRecord, number: Int) {
        guard number <= 20 else { return }
        part.log.warning("a record cannot be read and is omitted", metadata: ["error": record.error.description])
    }
}

extension RecordCollection {
    /// Returns the records that contain all words of a string, the most relevant ones (by BM25) first.
    ///
    /// ```swift
    /// let found = try await books.search(\.words, "moon vern*")
    /// ```
    ///
    /// - Parameters:
    ///   - index: The index; each word may occur in any of its properties.
    ///   - text: The words, of at most 4,096 bytes. A word that ends with `*` is a prefix, and words in quotation marks
    ///     form a phrase. Other punctuation has no meaning.
    ///   - limit: The maximum number of records; at most 10,000 are returned, and fewer if they exceed 16 MB.
    ///   - cursor: The ``RecordList/next`` of the previous page of the same search; `nil` for the first page. Each
    ///     write slightly changes the relevance of all records, so the pages of a collection that is being written may
    ///     repeat or miss a record. Pages within a transaction do not.
    /// - Throws: `store.unsupported` if the host's engine does not support full-text search (as the in-memory engine);
    ///   `host.interface-missing` if the host is older than this function; `call.invalid-input`
    ///   for a text without a word, or the cursor of another query.
    public func search(
        _ index: KeyPath<R.Indexes, FullText>, _ text: String, limit: Int = 100, after cursor: PageCursor? = nil
    ) async throws(BackplaneError) -> RecordList<R> {
        let name = R.Indexes()[keyPath: index].declared.name
        return try await read(
            StoreSelection(collection: R.collection, index: name, words: text, after: cursor, limit: limit))
    }
}

/// A page of records that a collection returns.
public struct RecordList<R: Record>: Sendable {
    /// The records with their versions, in the order of the selection.
    public var versioned: [Versioned<R>]
    /// The records that cannot be decoded as an `R`, in the same order; the store keeps them unchanged.
    public var unreadable: [UnreadableRecord]
    /// The position at which the next page begins; `nil` after the last page.
    public var next: PageCursor?

    /// The decoded values, without their versions.
    public var records: [R] { versioned.map(\.record) }
}

/// A stored record that cannot be decoded as a value of its type.
public struct UnreadableRecord: Sendable {
    /// The id under which it is stored.
    public var id: String
    /// The stored JSON.
    public var json: [UInt8]
    /// The number of the change that stored the record.
    public var version: Int64
    /// The reason: `store.undecodable`.
    public var error: BackplaneError
}
