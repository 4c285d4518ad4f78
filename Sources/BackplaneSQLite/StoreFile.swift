#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The file of a store, which is created, checked and, if it is damaged, repaired.
struct StoreFile {
    let path: String
    let durability: StoreDurability
    let damaged: DamagedStorePolicy
    /// The function that prepares each connection of the open store.
    var prepare: @Sendable (Database) throws -> Void = { _ in }
    private var marks: StoreMarks { StoreMarks(path) }

    /// The longest wait for another connection, in seconds.
    static let patience = 5.0
    /// The size to which the write-ahead log is truncated after a checkpoint, in bytes.
    static let logLimit = 16 << 20

    init(folder: String, durability: StoreDurability, damaged: DamagedStorePolicy) {
        (path, self.durability, self.damaged) = (folder + "/store.sqlite", durability, damaged)
    }

    /// A store that has been opened.
    struct Opened {
        let database: DatabasePool
        let support: FullTextSupport
        /// The lock that is held while the database is open.
        let lock: StoreLock
        /// A Boolean value that indicates whether the last process did not close the store.
        let endedUncleanly: Bool
    }

    /// Opens the store; other processes that open it have to wait.
    ///
    /// Only the header, the schema and the list of collections are read, unless damage was found before.
    func open(report: (BackplaneError) -> Void) throws(BackplaneError) -> Opened {
        let lock = try StoreLock(of: path)
        defer { lock.endOpening() }
        do {
            let isAlone = lock.isAlone()
            if isAlone, let finding = try StoreSalvage(path: path).complete() { report(finding) }
            let endedUncleanly = isAlone && marks.isOpen
            let database: DatabasePool
            do {
                try followMarkOfDamage(isAlone: isAlone)
                database = try openSound()
            } catch let error as DatabaseError where error.isDamage {
                report(try repair(error, lock))
                database = try openSound()
            }
            marks.isOpen = true
            let support = try database.writeWithoutTransaction { try FullTextSupport($0) }
            return Opened(database: database, support: support, lock: lock, endedUncleanly: endedUncleanly)
        } catch {
            throw .unusable(error, at: path)
        }
    }

    /// Reads the whole file if damage was found while it was open and no process has it open now.
    ///
    /// If the file is sound, it has already replaced the damaged one.
    ///
    /// - Throws: A `DatabaseError` with `SQLITE_CORRUPT` if the file is damaged.
    private func followMarkOfDamage(isAlone: Bool) throws {
        guard let found = marks.damageFound, FileManager.default.fileExists(atPath: path) else { return }
        guard isAlone else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: found) }
        if let damage = try StoreCheck(path).run()?.damage {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: damage)
        }
        marks.damageFound = nil
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: A `DatabaseError` with `SQLITE_CORRUPT` or `SQLITE_NOTADB` if the file is damaged.
    private func openSound() throws -> DatabasePool {
        if FileManager.default.fileExists(atPath: path) {
            do {
                try check()
            } catch let error as DatabaseError where error.isUnfinished {
                try rollBack()
                try check()
            }
        } else {
            try Self.makePrivate(path)
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { [prepare] db in
            try prepare(db)
            try db.execute(sql: "PRAGMA journal_size_limit = \(Self.logLimit)")
        }
        let database = try DatabasePool(path: path, configuration: configuration)
        // Not in prepareDatabase: GRDB sets NORMAL after it, on the one connection that writes.
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        }
        try StoreTables.migrator.migrate(database)
        return database
    }

    /// Reads the header, the schema and the list of collections, and throws an error if they are damaged or unknown.
    ///
    /// Nothing is written to the file before this check, so a damaged file remains unchanged.
    private func check() throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(Self.patience)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        try database.read { db in
            if let unknown = try StoreTables.unknownMigrations(in: db) {
                throw BackplaneError.newer(unknown, path)
            }
            for table in ["collections", "indexes"] where try db.tableExists(table) {
                guard try String.fetchOne(db, sql: "PRAGMA quick_check('\(table)')") == "ok" else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table `\(table)` is damaged")
                }
            }
        }
    }

    /// Rolls back the transaction that a process did not complete before it ended, such as the one in which a new file
    /// switches to WAL mode.
    ///
    /// A read-only connection cannot do this.
    private func rollBack() throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        _ = try database.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
    }

    /// Repairs the file and returns the report.
    ///
    /// - Throws: `store.damaged` if the store is also open elsewhere, or the policy is to refuse it.
    private func repair(_ error: DatabaseError, _ lock: StoreLock) throws -> BackplaneError {
        let reason = error.message ?? "SQLite \(error.resultCode.rawValue)"
        guard lock.isAlone() else {
            throw BackplaneError(
                .storeDamaged,
                "the store is damaged (\(reason)), but \(lock.others) has it open; stop that process, and the readable records are saved when the store is next opened",
                at: path)
        }
        guard damaged == .salvage else {
            throw BackplaneError(
                .storeDamaged,
                "the store is damaged (\(reason)), and was not changed; restore a backup, or have the readable records saved: \"store\": {\"damaged\": \"salvage\"}",
                at: path)
        }
        let report = try StoreSalvage(path: path).run(reason: reason)
        marks.damageFound = nil
        return report
    }

    /// Creates an empty file with mode 0600, which SQLite also uses for the files beside it.
    static func makePrivate(_ path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackplaneError.unusableFile(errno, at: path) }
        close(descriptor)
    }
}

extension DatabaseError {
    /// A Boolean value that indicates whether the error concerns the contents of the file rather than its path or
    /// permissions.
    var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }

    /// A Boolean value that indicates whether the file has a journal that only a writable connection can roll back.
    var isUnfinished: Bool { extendedResultCode == .SQLITE_READONLY_ROLLBACK }
}
#endif
