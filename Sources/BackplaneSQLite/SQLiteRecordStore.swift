#if Engines
public import Backplane
public import BackplaneStorage
import GRDB

/// A record store in one SQLite file in WAL mode, where readers and the one writer do not wait for each other.
///
/// A write that has returned survives the end of the process. A power failure can lose the last writes, but leaves no
/// transaction half done (SQLite, `PRAGMA synchronous = NORMAL` in WAL mode).
public final class SQLiteRecordStore: RecordStore {
    private let database: DatabasePool
    /// The lock that is held until the database is closed.
    private let lock: StoreLock

    /// Opens `store.sqlite` in a folder, or creates it with mode 0600.
    ///
    /// Opening reads the whole file once, to find damage. The readable records of a damaged file are copied into a new
    /// one, and the damaged one is kept as `store.sqlite.damaged-…`.
    ///
    /// - Parameters:
    ///   - folder: The folder, which exists.
    ///   - damaged: The treatment of a damaged file.
    ///   - report: A function that receives a `store.damaged` with the number of records that were saved and lost, if
    ///     the file was repaired.
    /// - Throws: `store.unusable` if the file cannot be opened for writing; `store.damaged` if it is damaged, but the
    ///   policy is to refuse it or the store is also open elsewhere.
    public init(
        folder: String, damaged: DamagedStorePolicy = .salvage, report: @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        (database, lock) = try StoreFile(folder: folder, damaged: damaged).open(report: report)
    }

    /// Applies changes in one transaction.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        do {
            try await database.write { db in
                for change in changes { try change.apply(to: db, in: namespace) }
            }
        } catch {
            throw .unusable(error, at: database.path)
        }
    }

    /// Reads one page of the records that a query selects.
    ///
    /// - Throws: `store.unusable`; `call.cancelled`.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        do {
            return try await database.read { db in try query.page(in: db, namespace) }
        } catch {
            throw .unusable(error, at: database.path)
        }
    }
}
#endif
