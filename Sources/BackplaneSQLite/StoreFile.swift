#if Engines
import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The file of a store, which is created, checked and, if it is damaged, repaired.
struct StoreFile {
    let path: String
    let damaged: DamagedStorePolicy

    init(folder: String, damaged: DamagedStorePolicy) { (path, self.damaged) = (folder + "/store.sqlite", damaged) }

    /// Opens the store, while other processes that want to open it wait.
    ///
    /// - Returns: The database, and the lock that is held as long as the database is open.
    func open(report: (BackplaneError) -> Void) throws(BackplaneError) -> (DatabasePool, StoreLock) {
        let lock = try StoreLock(of: path)
        defer { lock.endOpening() }
        do {
            if lock.isAlone(), let finding = try StoreSalvage(path: path).complete() { report(finding) }
            do {
                return (try openSound(), lock)
            } catch let error as DatabaseError where error.isDamage {
                report(try repair(error, lock))
                return (try openSound(), lock)
            }
        } catch {
            throw .unusable(error, at: path)
        }
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: A `DatabaseError` with `SQLITE_CORRUPT` or `SQLITE_NOTADB` if the file is damaged.
    private func openSound() throws -> DatabasePool {
        if FileManager.default.fileExists(atPath: path) { try check() } else { try Self.makePrivate(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let database = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(database)
        return database
    }

    /// Reads the whole file and throws if it is damaged.
    ///
    /// Nothing has written to the file before, so that a damaged one is kept as it was found.
    private func check() throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        let finding = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
    }

    /// Repairs the file and returns the report.
    ///
    /// - Throws: `store.damaged` if the store is also open elsewhere, or the policy is to refuse it.
    private func repair(_ error: DatabaseError, _ lock: StoreLock) throws -> BackplaneError {
        let reason = error.message ?? "SQLite \(error.resultCode.rawValue)"
        guard lock.isAlone() else {
            throw BackplaneError(
                .storeDamaged,
                "the store is damaged (\(reason)), but \(lock.others) has it open; stop that, and the readable records are saved when the store is next opened",
                at: path)
        }
        guard damaged == .salvage else {
            throw BackplaneError(
                .storeDamaged,
                "the store is damaged (\(reason)), and was not changed; restore a backup, or have the readable records saved: \"store\": {\"damaged\": \"salvage\"}",
                at: path)
        }
        return try StoreSalvage(path: path).run(reason: reason)
    }

    /// Creates an empty file with mode 0600, which SQLite also gives to the files beside it.
    static func makePrivate(_ path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackplaneError.unusableFile(errno, at: path) }
        close(descriptor)
    }

    /// The migrations that create the table of a store.
    static var migrator: DatabaseMigrator {
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
}

extension DatabaseError {
    /// A Boolean value that indicates whether the contents of the file are at fault, and not its path or permissions.
    fileprivate var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }
}
#endif
