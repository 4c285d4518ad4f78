#if Engines
import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The file of a store: made, checked, and moved aside when it is damaged.
struct StoreFile {
    let path: String

    init(folder: String) { path = folder + "/store.sqlite" }

    func open(report: (BackplaneError) -> Void) throws(BackplaneError) -> DatabasePool {
        do {
            return try openSound()
        } catch let error as DatabaseError where error.isDamage {
            let aside = try moveAside()
            report(
                BackplaneError(
                    .storeUnusable, "the store's file is damaged (\(error.message ?? "SQLite \(error.resultCode.rawValue)")); it was moved to \(aside) and a new one begun",
                    at: path))
            do { return try openSound() } catch { throw .unusable(error, at: path) }
        } catch {
            throw .unusable(error, at: path)
        }
    }

    private func openSound() throws -> DatabasePool {
        try makePrivate()
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let database = try DatabasePool(path: path, configuration: configuration)
        let finding = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
        try Self.migrator.migrate(database)
        return database
    }

    /// SQLite gives the files beside it the same rights.
    private func makePrivate() throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("records") { db in
            try db.execute(
                sql: """
                    CREATE TABLE record (
                        namespace TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (namespace, collection, id)
                    ) WITHOUT ROWID
                    """)
        }
        return migrator
    }

    /// Nothing is deleted: what is damaged may still be worth something to somebody.
    private func moveAside() throws(BackplaneError) -> String {
        let time = Int(Date.now.timeIntervalSince1970 * 1_000)
        let aside = "\(path).damaged-\(time)"
        do {
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
            }
        } catch {
            throw .unusable(error, at: path)
        }
        return aside
    }
}

extension DatabaseError {
    /// Whether it is the file's contents that are wrong, not its place or its rights.
    fileprivate var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }
}
#endif
