#if Engines
import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The file of a store: made, checked, and repaired when it is damaged.
struct StoreFile {
    let path: String
    let damaged: DamagedStorePolicy

    init(folder: String, damaged: DamagedStorePolicy) { (path, self.damaged) = (folder + "/store.sqlite", damaged) }

    /// Opens the store while nobody else opens it.
    ///
    /// - Returns: the lock, which is held for as long as the database is open.
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

    private func openSound() throws -> DatabasePool {
        if FileManager.default.fileExists(atPath: path) { try check() } else { try Self.makePrivate(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let database = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(database)
        return database
    }

    /// Reads the whole file before anything writes to it: a damaged one is kept as it was found.
    private func check() throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        let finding = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
    }

    /// Repairs the file, unless somebody has it open or it is not to be touched.
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

    /// Makes an empty file for this user alone; SQLite gives the files beside it the same rights.
    static func makePrivate(_ path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackplaneError.unusableFile(errno, at: path) }
        close(descriptor)
    }

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
    /// Whether it is the file's contents that are wrong, not its place or its rights.
    fileprivate var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }
}
#endif
