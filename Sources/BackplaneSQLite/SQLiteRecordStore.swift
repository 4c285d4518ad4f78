#if Engines
public import Backplane
public import BackplaneStorage
import GRDB

/// Keeps records in one SQLite file, in WAL mode: readers and the one writer do not wait for each other.
///
/// What was acknowledged is there after the process is killed. A power failure may take the last moments with it, but never
/// leaves half a transaction (SQLite, `PRAGMA synchronous = NORMAL` in WAL mode).
public final class SQLiteRecordStore: RecordStore {
    private let database: DatabasePool
    /// Held until the database is closed.
    private let lock: StoreLock

    /// Opens `store.sqlite` in a folder, or makes it, mode 0600.
    ///
    /// Opening reads the whole file once, to know whether it is damaged. What can be read in a damaged file is then copied into a new one,
    /// the damaged one is kept as `store.sqlite.damaged-…`, and what was saved and lost is reported.
    ///
    /// - Parameter damaged: what becomes of a damaged file.
    /// - Throws: `store.unusable` when the file cannot be opened for writing; `store.damaged` when it is damaged, and is left as it is or
    ///   open in another process.
    public init(
        folder: String, damaged: DamagedStorePolicy = .salvage, report: @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        (database, lock) = try StoreFile(folder: folder, damaged: damaged).open(report: report)
    }

    public func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        do {
            try await database.write { db in
                for change in changes { try change.apply(to: db, in: namespace) }
            }
        } catch {
            throw .unusable(error, at: database.path)
        }
    }

    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        do {
            return try await database.read { db in try query.page(in: db, namespace) }
        } catch {
            throw .unusable(error, at: database.path)
        }
    }
}
#endif
