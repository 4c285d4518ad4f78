#if Engines
public import Backplane
public import BackplaneRecords
public import BackplaneStorage
import Foundation
import GRDB
import Glibc
import Synchronization

/// A record store in one SQLite file in WAL mode, where readers and the one writer do not wait for each other.
///
/// A write that has returned survives the end of the process and, unless the durability is ``StoreDurability/normal``,
/// of the machine. The checksum of a record is verified whenever the record is read.
public final class SQLiteRecordStore: RecordStore {
    let database: DatabasePool
    /// The full-text tokenizers that this machine's SQLite provides.
    private let support: FullTextSupport
    /// The lock that is held until the database is closed.
    private let lock: StoreLock
    private let report: @Sendable (BackplaneError) -> Void
    /// The check of the whole file after an unclean shutdown.
    private let check: StoreCheck
    private let signals: ChangeSignals
    private let foreignWrites: ForeignWrites
    /// A Boolean value that indicates whether damage was reported.
    private let hasReported = Atomic(false)
    /// The size of the write-ahead log at which a write checkpoints it.
    private let boundAt = Atomic(2 * StoreFile.logLimit)

    /// Opens `store.sqlite` in a folder, or creates it with mode 0600.
    ///
    /// Opening reads only a small part of the file. After an unclean shutdown, the whole file is checked in the
    /// background. Damage found by this check, or by a read or a write, is reported immediately; when the store is next
    /// opened, the readable records are copied into a new file, and the damaged file is kept as
    /// `store.sqlite.damaged-…`.
    ///
    /// - Parameters:
    ///   - folder: The folder, which must exist.
    ///   - durability: The failures that a completed write survives.
    ///   - damaged: The treatment of a damaged file.
    ///   - report: A function that receives a `store.damaged` error for any damage, and another one with the numbers of
    ///     saved and lost records after a repair.
    /// - Throws: `store.unusable` if the file cannot be opened for writing, or a newer version of Backplane has written
    ///   it; `store.damaged` if it is damaged and the policy is to refuse it, or the store is also open elsewhere.
    public convenience init(
        folder: String, durability: StoreDurability = .full, damaged: DamagedStorePolicy = .salvage,
        report: @escaping @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        try self.init(StoreFile(folder: folder, durability: durability, damaged: damaged), report: report)
    }

    /// Opens a file.
    init(_ file: StoreFile, report: @escaping @Sendable (BackplaneError) -> Void) throws(BackplaneError) {
        let opened = try file.open(report: report)
        (database, support, lock) = (opened.database, opened.support, opened.lock)
        (self.report, check) = (report, StoreCheck(file.path))
        let signals = ChangeSignals()
        self.signals = signals
        foreignWrites = ForeignWrites(to: database) { signals.writtenElsewhere() }
        if opened.endedUncleanly { checkInBackground() }
    }

    deinit {
        check.cancel()
        // The last connection to be closed moves the log into the file, which one that only reads cannot.
        database.invalidateReadOnlyConnections()
        try? database.close()
        lock.whenLast { [path = database.path] in StoreMarks(path).isOpen = false }
    }

    /// Full text, if this machine's SQLite has FTS5 and its tokenizers.
    ///
    /// If only some of the tokenizers are missing, indexes that use the others can still be searched.
    public var capabilities: StoreCapabilities { support.isComplete ? .fullText : [] }

    /// The settings of the writer connection.
    package var settings: StoreDatabaseSettings {
        get throws { try database.writeWithoutTransaction { try StoreDatabaseSettings($0) } }
    }

    /// The other processes that have the file open, as the subject of a sentence; `nil` if there are none.
    public var otherProcesses: String? {
        lock.isAlone() ? nil : lock.others
    }

    /// Reads the whole file on a separate thread.
    private func checkInBackground() {
        let thread = Thread { [check, report, path = database.path] in
            guard let finding = try? check.run() else { return }
            if let damage = finding.damage { StoreMarks(path).damageFound = damage }
            for error in finding.errors(at: path) { report(error) }
        }
        thread.name = "bp-store-check"
        thread.start()
    }

    /// Reads the whole file, while others read and write, and returns its damage.
    ///
    /// A damaged file is repaired when it is next opened.
    ///
    /// - Throws: `store.unusable`.
    public func findDamage() async throws(BackplaneError) -> [BackplaneError] {
        let path = database.path
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<StoreCheck.Finding?, any Error>, Never>) in
            Thread.detachNewThread { continuation.resume(returning: Result { try StoreCheck(path).run() }) }
        }
        do {
            guard let finding = try result.get() else { return [] }
            if let damage = finding.damage { StoreMarks(path).damageFound = damage }
            return finding.errors(at: path)
        } catch {
            throw .unusable(error, at: path)
        }
    }

    /// Sets the indexes of a collection to those of a definition, in transactions between which others can write.
    ///
    /// - Throws: `store.duplicate`; `call.invalid-input`; `store.unusable`; `call.cancelled`, after which another call
    ///   continues.
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(collection)
        let building = IndexBuilding(definition: collection, namespace: namespace, support: support)
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
        let numbers = try await writing { [support] db in
            var writer = try RecordWriter(db, in: namespace, support)
            return try writer.apply(batch)
        }
        signals.written(batch, in: namespace)
        return numbers
    }

    /// Reads one page of the records that a query selects.
    ///
    /// - Throws: `store.conflict`; `store.unindexed`; `call.invalid-input`; `store.unusable`; `call.cancelled`.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await reading { [support] in try RecordReader($0, in: namespace, support).page(query) }
    }

    /// Counts the records that a query selects.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await reading { [support] in try RecordReader($0, in: namespace, support).count(query) }
    }

    /// Reads changes of a collection from its log.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await reading { [support] in
            try RecordReader($0, in: namespace, support).changes(of: collection, since: number, limit: limit)
        }
    }

    /// Waits for a change of a collection after a number; a change by another process is noticed within 250 ms.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        try await foreignWrites.watched { () throws(BackplaneError) in
            try await signals.wait(for: collection, in: namespace, since: number) { () throws(BackplaneError) in
                try await self.reading { try $0.lastChange(of: collection, in: namespace) }
            }
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
        try await reading { [support] in try RecordReader($0, in: namespace, support).collections() }
    }

    /// Returns the number of bytes of the values of a collection's records.
    ///
    /// - Throws: `store.unusable`.
    public func size(of collection: String, in namespace: String) async throws(BackplaneError) -> Int64 {
        try await reading { [support] in try RecordReader($0, in: namespace, support).size(of: collection) }
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
    private func writing<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value)
        async throws(BackplaneError) -> Value
    {
        let value: Value
        do {
            value = try await database.write(body)
        } catch {
            throw failure(error)
        }
        await boundLog()
        return value
    }

    /// Checkpoints the write-ahead log once readers have prevented SQLite from doing so for too long.
    ///
    /// Written records are safe in the log, so this may fail. It is then retried after as much has been written again,
    /// because it makes other writes wait for readers. Cancelling the caller's task does not interrupt it, because the
    /// connection could otherwise retain the short timeout.
    private func boundLog() async {
        var status = stat()
        guard stat(database.path + "-wal", &status) == 0, status.st_size > boundAt.load(ordering: .relaxed) else {
            return
        }
        let isDone = await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
            database.asyncWriteWithoutTransaction { db in
                let isDone = Result {
                    try db.execute(sql: "PRAGMA busy_timeout = 50")
                    defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Int(StoreFile.patience * 1_000))") }
                    _ = try db.checkpoint(.truncate)
                }
                continuation.resume(returning: (try? isDone.get()) != nil)
            }
        }
        boundAt.store(
            isDone ? 2 * StoreFile.logLimit : Int(status.st_size) + StoreFile.logLimit, ordering: .relaxed)
    }

    /// Converts an error, and marks the file if the error indicates damage.
    private func failure(_ error: any Error) -> BackplaneError {
        guard let error = error as? DatabaseError, error.isDamage else { return .unusable(error, at: database.path) }
        let reason = error.message ?? "SQLite \(error.resultCode.rawValue)"
        StoreMarks(database.path).damageFound = reason
        let damage = BackplaneError.storeDamage(reason, at: database.path)
        if !hasReported.exchange(true, ordering: .relaxed) { report(damage) }
        return damage
    }
}
#endif
