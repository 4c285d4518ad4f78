#if Engines
public import Backplane
public import BackplaneRecords
public import BackplaneStorage
import Foundation
import GRDB
import Synchronization

/// A record store in one SQLite file in WAL mode, in which readers and the only writer do not wait for each other.
///
/// A write that has returned survives the end of the process and, unless the durability is ``StoreDurability/normal``,
/// of the machine. Only one process can have the store open; the error for any other process names it.
public final class SQLiteRecordStore: RecordStore {
    let database: DatabasePool
    private let file: StoreFile
    /// The lock that is held until the database is closed; `nil` if the store is only read.
    private let lock: StoreLock?
    private let report: @Sendable (BackplaneError) -> Void
    private let signals = ChangeSignals()
    /// A Boolean value that indicates whether damage was reported.
    private let hasReported = Atomic(false)

    /// Opens `store.sqlite` in a folder, or creates it with mode 0600.
    ///
    /// Opening reads only a small part of the file. Damage found by a read or a write is reported immediately. The next
    /// opening of the store then checks the whole file, and treats it as damaged if the damage still exists.
    ///
    /// - Parameters:
    ///   - folder: The folder, which must exist.
    ///   - durability: The failures that a completed write survives.
    ///   - damaged: The treatment of a damaged file.
    ///   - report: A function that receives a `store.damaged` error for any damage; it contains the new name of a file
    ///     that was moved aside.
    /// - Throws: `store.unusable` if the file cannot be opened for writing, another process has it open, another
    ///   version of Backplane has written it, or this machine's SQLite is older than 3.34 or lacks FTS5;
    ///   `store.damaged` if the file is damaged and the policy is to refuse it.
    public convenience init(
        folder: String, durability: StoreDurability = .full, damaged: DamagedStorePolicy = .moveAside,
        report: @escaping @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        var file = StoreFile(folder: folder)
        (file.durability, file.damaged) = (durability, damaged)
        try self.init(file, report: report)
    }

    /// Opens `store.sqlite` in a folder only for reading, even while another process has it open.
    ///
    /// Writes throw `store.unusable`, and a wait does not notice changes by other processes.
    ///
    /// - Throws: `store.unusable`; `store.damaged`.
    public init(reading folder: String) throws(BackplaneError) {
        file = StoreFile(folder: folder)
        (database, lock, report) = (try file.openToRead(), nil, { _ in })
    }

    /// Opens a file as its owner.
    init(_ file: StoreFile, report: @escaping @Sendable (BackplaneError) -> Void) throws(BackplaneError) {
        let opened = try file.open(report)
        (database, lock, self.file, self.report) = (opened.database, opened.lock, file, report)
    }

    deinit {
        // The last connection to be closed moves the log into the file, so it must not be one that only reads.
        database.invalidateReadOnlyConnections()
        try? database.close()
    }

    /// Full text.
    public var capabilities: StoreCapabilities { .fullText }

    /// Reads the whole file, while others read and write, and returns its damage.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func findDamage() async throws(BackplaneError) -> [BackplaneError] {
        do throws(BackplaneError) {
            let found = try await reading { try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") ?? "no answer" }
            return found == "ok" ? [] : [damage(found)]
        } catch {
            guard error.code == .storeDamaged else { throw error }
            return [error]
        }
    }

    /// Sets the indexes of a collection as defined, in several transactions, between which others can write.
    ///
    /// - Throws: `store.duplicate`; `call.invalid-input`; `store.unusable`; `call.cancelled`; another call then
    ///   continues.
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(collection)
        let building = IndexBuilding(definition: collection, namespace: namespace)
        if try await reading({ try building.isDone(in: $0) }) { return }
        try await writing { try building.begin(in: $0) }
        var duplicate: BackplaneError?, isDone = false
        while !isDone {
            do throws(BackplaneError) {
                isDone = try await writing { try building.step(in: $0) }
            } catch {
                guard error.code == .storeDuplicate else { throw error }
                duplicate = duplicate ?? error
                try await writing { try building.giveUp(in: $0) }
            }
        }
        if let duplicate { throw duplicate }
    }

    /// Applies a batch in one transaction.
    ///
    /// - Throws: `store.conflict`; `store.duplicate`; `call.invalid-input`; `store.unusable`; `call.cancelled`.
    public func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(batch)
        let numbers = try await writing { db in
            var writer = try RecordWriter(db, in: namespace)
            return try writer.apply(batch)
        }
        signals.written(batch, in: namespace)
        return numbers
    }

    /// Reads one page of the records that a query selects.
    ///
    /// - Throws: `store.conflict`; `store.unindexed`; `call.invalid-input`; `store.unusable`; `call.cancelled`.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await reading { try RecordReader($0, in: namespace).page(query) }
    }

    /// Counts the records that a query selects.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await reading { try RecordReader($0, in: namespace).count(query) }
    }

    /// Reads changes of a collection from its log.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await reading {
            try RecordReader($0, in: namespace).changes(of: collection, since: number, limit: limit)
        }
    }

    /// Waits for a change of a collection after a number.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        try await signals.wait(for: collection, in: namespace, since: number) { () throws(BackplaneError) in
            try await self.reading { try $0.lastChange(of: collection, in: namespace) }
        }
    }

    /// The number of tasks that wait for a change.
    package var waitingTasks: Int { signals.waitingTasks }

    /// Returns the namespaces that have collections.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func namespaces() async throws(BackplaneError) -> [String] {
        try await reading {
            try String.fetchAll($0, sql: "SELECT DISTINCT namespace FROM collections ORDER BY namespace")
        }
    }

    /// Returns the collections of a namespace.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await reading { try RecordReader($0, in: namespace).collections() }
    }

    /// Returns the number of bytes of the values of a collection's records.
    ///
    /// - Throws: `store.unusable`.
    public func size(of collection: String, in namespace: String) async throws(BackplaneError) -> Int64 {
        try await reading { try RecordReader($0, in: namespace).size(of: collection) }
    }

    /// Runs queries in one snapshot of the database.
    private func reading<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value)
        async throws(BackplaneError) -> Value
    {
        do {
            return try await database.read(body)
        } catch {
            throw failure(error)
        }
    }

    /// Runs statements in one transaction, which an error rolls back.
    ///
    /// SQLite moves the write-ahead log into the file as far as readers allow, and truncates it once it has been moved.
    private func writing<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value)
        async throws(BackplaneError) -> Value
    {
        do {
            return try await database.write(body)
        } catch {
            throw failure(error)
        }
    }

    /// Converts an error, and notes and reports damage.
    private func failure(_ error: any Error) -> BackplaneError {
        guard let error = error as? DatabaseError, error.isDamage else { return .unusable(error, at: file.path) }
        let damage = damage(error.reason)
        if !hasReported.exchange(true, ordering: .relaxed) { report(damage) }
        return damage
    }

    /// Notes damage for the next opening, and returns its error.
    private func damage(_ reason: String) -> BackplaneError {
        if lock != nil { file.damageFound = reason }
        let consequence =
            lock != nil
            ? ", and restart the process that has it open; that process moves the file aside or refuses it, as its manifest says"
            : "; the next host that opens the store and finds the damage moves the file aside or refuses it, as its manifest says"
        return BackplaneError(
            .storeDamaged,
            "the store is damaged (\(reason)); save what can be read with `backplane store dump`\(consequence)",
            at: file.path)
    }
}
#endif
