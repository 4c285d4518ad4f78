#if Engines
import Backplane
import BackplaneNetwork
import Foundation
import GRDB
import Glibc

/// The files of a cache in its own folder: `cache.sqlite` with the files that SQLite adds, and large bodies in
/// `bodies`.
struct CacheFile: Sendable {
    let folder: String
    var path: String { folder + "/cache.sqlite" }
    private var bodies: String { folder + "/bodies" }
    /// The file that marks the cache as damaged; the next process that opens the cache alone creates it again.
    private var mark: String { path + ".damaged" }

    /// The size above which a body is a file of its own, in bytes.
    static let inlineLimit = 256 << 10
    /// The version of the format, in SQLite's `user_version`; a file with another version is created again.
    private static let version = 1

    /// A cache that is open.
    struct Opened: Sendable {
        let database: DatabasePool
        /// The lock by which processes detect each other.
        let lock: CacheLock
    }

    /// Opens the cache, or creates it with mode 0600 in a folder with mode 0700.
    ///
    /// A damaged file, or one with another format, is deleted if no other process has it open.
    ///
    /// - Throws: `network.cache`.
    func open(_ damaged: (BackplaneError) -> Void) throws(BackplaneError) -> Opened {
        do {
            try FileManager.default.createDirectory(
                atPath: bodies, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let lock = try CacheLock(of: path, limit: .seconds(10))
            defer { lock.endOpening() }
            let isAlone = lock.isAlone()
            if access(mark, F_OK) == 0 {
                guard isAlone else { throw damage(nil) }
                try remove()
            }
            let database: DatabasePool
            do {
                database = try connect(isAlone: isAlone)
            } catch let error as DatabaseError where error.isDamage {
                guard isAlone else { throw damage(error) }
                damaged(damage(error))
                try remove()
                database = try connect(isAlone: isAlone)
            }
            return Opened(database: database, lock: lock)
        } catch {
            throw failure(error)
        }
    }

    /// Marks the cache as damaged, so that the next opening creates it again.
    func markDamaged() {
        let file = Glibc.open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
    }

    /// Deletes everything but the lock.
    private func remove() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: bodies) { removeBody(name) }
        for suffix in ["-wal", "-shm", "", ".damaged"] where unlink(path + suffix) != 0 && errno != ENOENT {
            throw failure(errno)
        }
    }

    private func connect(isAlone: Bool) throws -> DatabasePool {
        let isNew = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 == 0
        if isNew { try StoreFile.makePrivate(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(1)
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            // Possible only before there is a table; lets the file shrink after responses are removed.
            if isNew { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            try db.execute(sql: "PRAGMA journal_size_limit = \(StoreFile.logLimit)")
        }
        // In WAL mode with `synchronous = NORMAL`: a power failure may undo the last responses, but a killed process
        // loses none.
        let database = try DatabasePool(path: path, configuration: configuration)
        try database.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                switch try Int.fetchOne(db, sql: "PRAGMA user_version") {
                case Self.version: break
                case 0: try db.execute(sql: CacheTables.sql + "PRAGMA user_version = \(Self.version);")
                case let other:
                    throw DatabaseError(
                        resultCode: .SQLITE_NOTADB, message: "the format has the version \(other ?? -1)")
                }
                return .commit
            }
        }
        if isAlone { try removeOrphans(database) }
        return database
    }

    // MARK: Bodies

    /// Writes a body to a new file, and returns the file's name.
    ///
    /// No response refers to the file until its row is committed, so an incomplete body is never served. The function
    /// waits for the disk, so that a power failure cannot leave a row without the bytes of its body.
    func write(_ body: Data) throws -> String {
        let name = UUID().uuidString, path = bodies + "/" + name
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(errno) }
        defer { close(file) }
        do {
            try body.withUnsafeBytes { bytes throws in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw failure(errno) }
                    rest = rest.dropFirst(count)
                }
            }
            guard fdatasync(file) == 0 else { throw failure(errno) }
            return name
        } catch {
            removeBody(name)
            throw error
        }
    }

    /// Reads a body; `nil` if its file is missing or has another length.
    func readBody(_ name: String, length: Int) throws -> Data? {
        let file = Glibc.open(bodies + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size == length, let bytes = malloc(max(length, 1)) else {
            return nil
        }
        var count = 0
        while count < length {
            let more = read(file, bytes + count, length - count)
            if more < 0, errno == EINTR { continue }
            guard more > 0 else {
                free(bytes)
                return nil
            }
            count += more
        }
        return Data(bytesNoCopy: bytes, count: length, deallocator: .free)
    }

    func removeBody(_ name: String) { unlink(bodies + "/" + name) }

    /// Removes only the files of responses that were stored incompletely, or whose rows are gone; no other process has
    /// the cache open.
    private func removeOrphans(_ database: DatabasePool) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: bodies)
        guard !names.isEmpty else { return }
        let known = try database.read { db in
            try Set(String.fetchCursor(db, sql: "SELECT file FROM entries WHERE file IS NOT NULL"))
        }
        for name in names where !known.contains(name) { removeBody(name) }
    }

    // MARK: Errors

    /// Converts an error, without the values of the statement, which do not belong in a log.
    func failure(_ error: any Error) -> BackplaneError {
        let unusable = BackplaneError.unusable(error, at: path)
        return unusable.code == .callCancelled ? unusable : failure(unusable)
    }

    private func failure(_ number: Int32) -> BackplaneError { failure(BackplaneError.unusableFile(number, at: path)) }

    /// Returns an error of the record store, which uses the same kind of files, as the error of a cache.
    private func failure(_ store: BackplaneError) -> BackplaneError {
        BackplaneError(.networkCache, store.message.replacing("the store", with: "the cache"), at: path)
    }

    /// Returns the error of a damaged file.
    ///
    /// - Parameter error: The error of SQLite; `nil` if the damage was found before.
    func damage(_ error: DatabaseError?) -> BackplaneError {
        let reason = error.map { " (\($0.message ?? "SQLite \($0.resultCode.rawValue)"))" } ?? ""
        return BackplaneError(
            .networkCache,
            "the cache is damaged\(reason); it is deleted and begun again as soon as no other process has it open",
            at: path)
    }
}

/// The tables of a cache.
enum CacheTables {
    /// The statements that create the tables; the body is last, so that a search does not read it.
    ///
    /// Triggers count the responses and their bytes, so that no process has to read all of them for their numbers.
    static let sql = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, url TEXT NOT NULL, endpoint TEXT, tags BLOB,
            status INTEGER NOT NULL, headers BLOB, requested REAL NOT NULL, received REAL NOT NULL,
            expires REAL NOT NULL, varying BLOB, used REAL NOT NULL, cost INTEGER NOT NULL, length INTEGER NOT NULL,
            file TEXT, body BLOB);
        CREATE INDEX entries_by_use ON entries(used, cost, expires);
        CREATE INDEX entries_by_url ON entries(url, endpoint);
        CREATE INDEX entries_by_tags ON entries(tags) WHERE tags IS NOT NULL;
        CREATE INDEX entries_by_file ON entries(file) WHERE file IS NOT NULL;
        CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO totals VALUES (0, 0);
        CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + NEW.cost;
        END;
        CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - OLD.cost;
        END;
        CREATE TRIGGER entry_replaced AFTER UPDATE OF cost ON entries BEGIN
            UPDATE totals SET bytes = bytes - OLD.cost + NEW.cost;
        END;

        """
}
#endif
