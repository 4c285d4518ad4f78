#if Engines
public import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The format of a store's file, which is read without changing the file.
public struct StoreFormat: Sendable {
    /// The migrations that are applied when the file is next opened; empty for a file of the current format.
    public let pending: [String]
    /// The number of records that these migrations move.
    public let records: Int

    /// Reads the format of the store in a folder, or returns `nil` if there is none.
    ///
    /// - Throws: `store.unusable` if the file cannot be read, or a newer version of Backplane has written it;
    ///   `store.damaged`.
    public init?(folder: String) throws(BackplaneError) {
        let path = folder + "/store.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(StoreFile.patience)
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            (pending, records) = try database.read { db in
                if let unknown = try StoreTables.unknownMigrations(in: db) { throw BackplaneError.newer(unknown, path) }
                let applied =
                    try db.tableExists("grdb_migrations") ? try StoreTables.migrator.appliedIdentifiers(db) : []
                let records =
                    try db.tableExists("record") ? try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM record") ?? 0 : 0
                return (StoreTables.migrator.migrations.filter { !applied.contains($0) }, records)
            }
        } catch let error as DatabaseError where error.isDamage {
            throw .storeDamage(error.message ?? "SQLite \(error.resultCode.rawValue)", at: path)
        } catch let error as DatabaseError where error.isUnfinished {
            throw BackplaneError(
                .storeUnusable,
                "a process was killed while it wrote to the store, and the next host that opens the store undoes the unfinished write; start one, and try again",
                at: path)
        } catch {
            throw .unusable(error, at: path)
        }
    }
}

extension BackplaneError {
    /// Returns the error for a file with tables that this version does not know.
    static func newer(_ unknown: String, _ path: String) -> BackplaneError {
        BackplaneError(
            .storeUnusable,
            "a newer version of Backplane has written the store (\(unknown)), and it was not changed; use that version, or give the host another data folder",
            at: path)
    }
}
#endif
