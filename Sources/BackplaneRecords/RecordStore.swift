public import Backplane
public import BackplaneStorage

/// An engine that stores records, in a database file or in memory.
///
/// One store serves all components of a host, each in its own namespace. The requirements of `RecordStoreConformance`
/// specify what every engine must do.
public protocol RecordStore: Sendable {
    /// The optional capabilities that this engine has. Default: none.
    var capabilities: StoreCapabilities { get }

    /// Sets the indexes of a collection as defined.
    ///
    /// A new index is built from the existing records, while the collection can be read and written.
    ///
    /// - Throws: `store.duplicate` if records have the same values in a new unique index, which is then not added;
    ///   `call.invalid-input` for an invalid definition; `store.unusable`.
    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError)

    /// Applies all changes of a batch atomically and in order.
    ///
    /// - Parameter namespace: The owner of the collections. Namespaces share nothing, regardless of the names of their
    ///   collections.
    /// - Returns: The number assigned to each change; 0 for a deletion without an effect.
    /// - Throws: `store.conflict` if a condition does not hold; `store.duplicate` if two records would have the same
    ///   values in a unique index; `call.invalid-input` for a name, an id or a value that no store accepts;
    ///   `store.unusable` if the store cannot be written.
    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64]

    /// Returns one page of the records that a query selects.
    ///
    /// - Throws: `store.conflict` if a condition of the query does not hold; `store.unindexed` if the collection has no
    ///   such index; `store.unsupported` for a search if the engine does not support full-text search;
    ///   `call.invalid-input` for a range or a cursor that does not fit the index, or a search text without a word;
    ///   `store.unusable` if the store cannot be read.
    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage

    /// Returns the number of records that a query selects, on all of its pages.
    ///
    /// The count of a whole collection is stored; the records that other queries select are counted.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int

    /// Returns changes of a collection from its log, which has at least the last 100,000.
    ///
    /// - Parameters:
    ///   - number: The number of the last change that the caller knows; 0 for none.
    ///   - limit: The maximum number of changes to return; it is capped at 10,000.
    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage

    /// Waits until a collection has a change after a number, or the log no longer contains all of them.
    ///
    /// Writes do not wait for this function. By default, the number of the last change is polled every quarter of a
    /// second.
    ///
    /// - Parameter number: The number of the last change that the caller knows; 0 for none.
    /// - Throws: `call.cancelled`; the errors of ``changes(of:since:limit:in:)``.
    func waitForChange(of collection: String, since number: Int64, in namespace: String) async throws(BackplaneError)

    /// Returns the namespaces that have collections, in the order of their names' bytes.
    func namespaces() async throws(BackplaneError) -> [String]

    /// Returns the collections of a namespace, in the order of their names' bytes.
    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary]

    /// Returns the number of bytes of the values of a collection's records, by counting them.
    ///
    /// This reads all records, unless the engine has a faster way.
    func size(of collection: String, in namespace: String) async throws(BackplaneError) -> Int64

    /// Reads the whole store, while others read and write, and returns its damage.
    ///
    /// The default implementation, for engines whose content cannot be damaged, returns no damage.
    func findDamage() async throws(BackplaneError) -> [BackplaneError]
}

extension RecordStore {
    /// The default: none.
    public var capabilities: StoreCapabilities { [] }

    /// Returns no damage, by default.
    public func findDamage() async throws(BackplaneError) -> [BackplaneError] { [] }

    /// Counts the bytes by reading all records, by default.
    public func size(of collection: String, in namespace: String) async throws(BackplaneError) -> Int64 {
        var size: Int64 = 0, query = RecordQuery(collection: collection)
        repeat {
            let page = try await read(query, in: namespace)
            for record in page.records { size += Int64(record.value.count) }
            query.after = page.next
        } while query.after != nil
        return size
    }

    /// Polls the number of the collection's last change every quarter of a second, by default.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        let query = RecordQuery(collection: collection, limit: 0, isWithoutValues: true)
        // A lower number comes from another store.
        while try await read(query, in: namespace).change == number {
            do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .waitCancelled }
        }
    }
}

extension BackplaneError {
    static var waitCancelled: BackplaneError { BackplaneError(.callCancelled, "the wait for a change was cancelled") }
}

/// The optional capabilities of an engine.
public struct StoreCapabilities: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Full-text search. An engine without it accepts full-text indexes, but searches fail.
    public static let fullText = Self(rawValue: 1 << 0)
}

/// A summary of a collection in a store.
public struct CollectionSummary: Sendable {
    /// The collection's definition, with its indexes in the order of their names.
    public var definition: CollectionDefinition
    /// The number of its records.
    public var count: Int
    /// The number of its last change.
    public var change: Int64
    /// The time of its last change, in seconds since 1970; `nil` if unknown.
    public var changed: Int64?

    /// Creates a summary of a collection with `count` records, last changed by `change`.
    public init(definition: CollectionDefinition, count: Int, change: Int64, changed: Int64? = nil) {
        (self.definition, self.count, self.change, self.changed) = (definition, count, change, changed)
    }
}

extension RecordStore {
    /// Applies all changes atomically and in order.
    @discardableResult
    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) -> [Int64] {
        try await write(RecordBatch(changes), in: namespace)
    }
}

extension RecordStore {
    /// Returns records in the order of their ids from an offset on, and the total number of selected records, as
    /// `backplane.store/1` requires.
    ///
    /// The answer reflects one state of the collection, unless the collection changes more often than it can be read.
    ///
    /// - Parameter ids: The ids of the records; `nil` for all records.
    /// - Throws: The errors of ``read(_:in:)``.
    package func page(
        of collection: String, ids: [String]? = nil, offset: Int = 0, limit: Int = .max, in namespace: String
    ) async throws(BackplaneError) -> (records: [StoredRecord], total: Int) {
        var attempt = 0
        while true {
            var query = RecordQuery(collection: collection, ids.map { .ids($0) } ?? .range(RecordRange()))
            var records: [StoredRecord] = [], toSkip = max(0, offset)
            do throws(BackplaneError) {
                while records.count < limit {
                    query.isWithoutValues = toSkip > 0
                    query.limit = toSkip > 0 ? toSkip : limit - records.count
                    let page = try await read(query, in: namespace)
                    if attempt < 8 { query.conditions = [.unchanged(collection: collection, since: page.change)] }
                    if query.isWithoutValues { toSkip -= page.records.count } else { records += page.records }
                    query.after = page.next
                    if page.next == nil { break }
                }
                return (records, try await count(query, in: namespace))
            } catch {
                // The collection has changed between two pages.
                guard error.code == .storeConflict else { throw error }
                attempt += 1
            }
        }
    }
}

/// The failures that a completed write survives.
public enum StoreDurability: String, Sendable {
    /// Writes survive a crash of the process and of the machine: each write waits until it is on disk.
    case full
    /// Writes survive a crash of the process. A power failure can revert the last writes, but leaves none incomplete.
    case normal
}
