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

    /// Opens `store.sqlite` in a folder, or makes it, mode 0600.
    ///
    /// A file that is damaged is moved aside, as `store.sqlite.damaged-…`, and reported; the store then begins empty.
    /// Opening reads the whole file once, to know.
    ///
    /// - Throws: `store.unusable` when the file cannot be opened for writing.
    public init(folder: String, report: @Sendable (BackplaneError) -> Void) throws(BackplaneError) {
        database = try StoreFile(folder: folder).open(report: report)
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

extension BackplaneError {
    /// What SQLite said, without the values of the statement, which are nobody's business in a log.
    static func unusable(_ error: any Error, at path: String) -> BackplaneError {
        if error is CancellationError { return BackplaneError(.callCancelled, "the call was cancelled") }
        let text = (error as? DatabaseError).map { "\($0.message ?? "no reason given") (SQLite \($0.extendedResultCode.rawValue))" } ?? "\(error)"
        return BackplaneError(.storeUnusable, "the store's file cannot be used: \(text)", at: path)
    }
}
#endif
