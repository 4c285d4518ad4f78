#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB
import Glibc

/// The file of a store: identifies it, creates it and, if it is damaged, moves it aside.
///
/// Only one process has the file open, and holds ``StoreLock``. Others may read the file.
struct StoreFile {
    let path: String
    var durability = StoreDurability.full
    var damaged = DamagedStorePolicy.refuse
    /// The function that prepares each connection of the open store.
    var prepare: @Sendable (Database) throws -> Void = { _ in }

    /// SQLite's `application_id` of a store: `BPst`.
    static let application = 0x4250_7374
    /// The version of the tables, in SQLite's `user_version`.
    static let version = 1
    /// The longest wait for another connection, in seconds.
    static let patience = 5.0
    /// The size to which the write-ahead log is truncated after a checkpoint, in bytes.
    static let logLimit = 16 << 20

    init(folder: String) { path = folder + "/store.sqlite" }

    /// Opens the store as its owner, or creates it.
    ///
    /// Only the header, the schema and the list of collections are read, unless damage was found before.
    ///
    /// - Parameter report: A function that receives an error with the new name of the file that was moved aside.
    func open(_ report: (BackplaneError) -> Void) throws(BackplaneError) -> (database: DatabasePool, lock: StoreLock) {
        try Self.requireFullText(at: path)
        let lock = try StoreLock(of: path)
        do {
            do {
                return (try openSound(), lock)
            } catch let error as DatabaseError where error.isDamage {
                report(try moveAside(error.reason))
                return (try openSound(), lock)
            }
        } catch {
            throw .unusable(error, at: path)
        }
    }

    /// Opens the store only for reading, without a lock, even while another process has it open.
    func openToRead() throws(BackplaneError) -> DatabasePool {
        do {
            guard try hasTables() else {
                throw BackplaneError(.storeUnusable, "the file has no store yet; a host creates it", at: path)
            }
            return try DatabasePool(path: path, configuration: configuration(isReadOnly: true))
        } catch let error as DatabaseError where error.isDamage {
            throw .damagedStore("the store is damaged (\(error.reason)), and was not changed", at: path)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            throw BackplaneError(
                .storeUnusable,
                "a process was killed while it created the store, and the next host that opens the store undoes the unfinished write; start one, and try again",
                at: path)
        } catch {
            throw .unusable(error, at: path)
        }
    }

    /// Requires an SQLite that has every tokenizer; `trigram` is part of FTS5 since 3.34.
    static func requireFullText(at path: String, tokenizer: String = "trigram") throws(BackplaneError) {
        let database = try? DatabaseQueue()
        do {
            try database?.write { db in
                try db.execute(sql: "CREATE VIRTUAL TABLE tried USING fts5(text, tokenize = '\(tokenizer)')")
            }
        } catch {
            let version = try? database?.read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
            throw BackplaneError(
                .storeUnusable,
                "a store needs SQLite 3.34 or later with FTS5, and this machine has \(version ?? "another one") (\((error as? DatabaseError)?.reason ?? "\(error)")); install it",
                at: path)
        }
    }

    private func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { [prepare] db in
            try prepare(db)
            db.add(function: FullTextTable.containsText)
            try db.execute(sql: "PRAGMA journal_size_limit = \(Self.logLimit)")
        }
        return configuration
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: A `DatabaseError` with `SQLITE_CORRUPT` or `SQLITE_NOTADB` if the file is damaged.
    private func openSound() throws -> DatabasePool {
        if FileManager.default.fileExists(atPath: path) {
            _ = try hasTables(isOwner: true)
        } else if hasContent("-wal") || hasContent("-journal") {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file is missing beside its log")
        } else {
            try Self.makePrivate(path)
        }
        let database = try DatabasePool(path: path, configuration: configuration(isReadOnly: false))
        // Not in prepareDatabase: GRDB sets NORMAL after it, on the one connection that writes.
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        }
        try database.write { db in
            guard try !Self.hasTables(db) else { return }
            try db.execute(
                sql: StoreTables.sql + """
                    PRAGMA application_id = \(Self.application);
                    PRAGMA user_version = \(Self.version);
                    """)
        }
        return database
    }

    private static func hasTables(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)") ?? false
    }

    /// Returns whether the file has a store's tables, and throws an error if they are damaged or unknown.
    ///
    /// Nothing is written to the file before this check, so that a damaged file stays unchanged. The only exception is
    /// a transaction that a killed process left incomplete, such as the switch of a new file to WAL mode: only a
    /// connection that may write can roll it back.
    private func hasTables(isOwner: Bool = false, isRollingBack: Bool = false) throws -> Bool {
        // SQLite deletes the log beside an empty file, even when it only reads. It never writes a log before the file.
        guard !hasContent("-wal") || hasContent("") else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file is empty beside its log")
        }
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration(isReadOnly: !isRollingBack))
            defer { try? database.close() }
            return try database.read { db in
                guard try Self.hasTables(db) else { return false }
                guard try Int.fetchOne(db, sql: "PRAGMA application_id") == Self.application else {
                    throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it is the database of another program")
                }
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard version == Self.version else {
                    throw BackplaneError(
                        .storeUnusable,
                        "another version of Backplane has written the store (format \(version), expected \(Self.version)), and it was not changed; use that version, or give the host another data folder",
                        at: path)
                }
                for table in ["collections", "indexes"] {
                    guard try String.fetchOne(db, sql: "PRAGMA quick_check('\(table)')") == "ok" else {
                        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table `\(table)` is damaged")
                    }
                }
                guard isOwner, damageFound != nil else { return true }
                let damage = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no answer"
                guard damage == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: damage) }
                // The file was replaced by a sound one.
                damageFound = nil
                return true
            }
        } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK && isOwner && !isRollingBack
        {
            return try hasTables(isOwner: true, isRollingBack: true)
        }
    }

    // MARK: Damage

    /// The damage that was found while the store was open, in a file beside it; `nil` for none.
    ///
    /// The next opening then reads the whole file. A failure to write this file is ignored, because the damage will be
    /// found again.
    var damageFound: String? {
        get { try? String(contentsOfFile: path + ".damage", encoding: .utf8) }
        nonmutating set {
            guard let newValue else { return _ = unlink(path + ".damage") }
            try? Self.makePrivate(path + ".damage")
            try? Data(newValue.utf8).write(to: URL(filePath: path + ".damage"))
        }
    }

    /// Returns whether the file or a log of it has content; an empty log is left by connections that only read.
    private func hasContent(_ suffix: String) -> Bool {
        var status = stat()
        return stat(path + suffix, &status) == 0 && status.st_size > 0
    }

    /// Renames a damaged file and its log; they are never changed after that.
    ///
    /// - Returns: The error with the new names.
    /// - Throws: `store.damaged` if the policy is to refuse the file.
    private func moveAside(_ reason: String) throws -> BackplaneError {
        guard damaged == .moveAside else {
            throw BackplaneError.damagedStore(
                "the store is damaged (\(reason)), and was not changed; to begin a new one, move the file and its log elsewhere",
                at: path)
        }
        var time = Int(Date.now.timeIntervalSince1970 * 1_000)
        while ["", "-wal", "-journal"].contains(where: { access("\(path).damaged-\(time)\($0)", F_OK) == 0 }) {
            time += 1
        }
        let name = path + ".damaged-\(time)"
        // The file first: a log that a kill has left behind is moved aside when the store is next opened.
        for suffix in ["", "-wal", "-journal"] where suffix.isEmpty || hasContent(suffix) {
            guard rename(path + suffix, name + suffix) == 0 || errno == ENOENT else {
                throw BackplaneError.unusableFile(errno, at: path)
            }
        }
        // An empty log, and the index that SQLite creates for a log.
        for suffix in ["-wal", "-journal", "-shm"] { unlink(path + suffix) }
        damageFound = nil
        return .damagedStore(
            "the store was damaged (\(reason)), and a new one was begun; the damaged file is kept as \(URL(filePath: name).lastPathComponent)",
            at: path)
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
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// The reason as SQLite states it.
    var reason: String { message ?? "SQLite \(extendedResultCode.rawValue)" }
}

extension BackplaneError {
    /// Returns the error for a damaged file, with possible remedies.
    static func damagedStore(_ finding: String, at path: String) -> BackplaneError {
        BackplaneError(
            .storeDamaged,
            "\(finding); recover its records with sqlite3 as docs/reference/storage.md describes, or restore a dump with `backplane store restore`",
            at: path)
    }

    /// Converts an error of SQLite, without the values of the statement, which do not belong in a log.
    ///
    /// Errors of Backplane are returned unchanged.
    static func unusable(_ error: any Error, at path: String) -> BackplaneError {
        if error is CancellationError { return BackplaneError(.callCancelled, "the call was cancelled") }
        if let error = error as? BackplaneError { return error }
        guard let error = error as? DatabaseError else {
            return BackplaneError(.storeUnusable, "the store's file cannot be used: \(error)", at: path)
        }
        if let reason = obstacle(at: path, full: error.resultCode == .SQLITE_FULL) {
            return BackplaneError(.storeUnusable, reason, at: path)
        }
        let text = "\(error.message ?? "no reason given") (SQLite \(error.extendedResultCode.rawValue))"
        return BackplaneError(.storeUnusable, "the store's file cannot be used: \(text)", at: path)
    }

    /// Returns the error for a file that the system refuses to open.
    ///
    /// - Parameter number: The system's error number.
    static func unusableFile(_ number: Int32, at path: String) -> BackplaneError {
        let reason =
            obstacle(at: path, full: number == ENOSPC || number == EDQUOT)
            ?? "the store's file cannot be used: \(String(cString: strerror(number)))"
        return BackplaneError(.storeUnusable, reason, at: path)
    }

    /// Returns the reason why the file cannot be written, if the system reports one.
    ///
    /// SQLite's own code often only indicates which operation failed.
    ///
    /// - Parameter full: Whether SQLite has reported a full disk.
    private static func obstacle(at path: String, full: Bool) -> String? {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        var system = statvfs()
        let isKnown = statvfs(folder, &system) == 0
        let free = isKnown ? UInt64(system.f_bavail) * UInt64(system.f_frsize) : 0
        if full || (isKnown && free == 0) {
            return
                "the disk is full: \(free) bytes are free in \(folder), but the store needs more to write; free some space"
        }
        if isKnown && Int32(system.f_flag) & Int32(ST_RDONLY) != 0 {
            return "the file system of \(folder) is read-only; give the host a writable data folder"
        }
        if access(folder, F_OK) != 0 { return nil }
        if access(folder, W_OK) != 0 {
            return
                "this user (\(geteuid())) may not write to the folder \(folder); change its permissions, or give the host another data folder"
        }
        if access(path, F_OK) == 0 && access(path, W_OK) != 0 {
            return "this user (\(geteuid())) may not write to the store; change its permissions"
        }
        return nil
    }
}
#endif
