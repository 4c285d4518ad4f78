#if Engines
public import Backplane
package import BackplaneExchange
public import BackplaneNetwork
package import Foundation
import GRDB
import Synchronization

/// A cache of responses in an SQLite file, which survives restarts.
///
/// ```swift
/// let disk = try SQLiteResponseCache(folder: "/var/lib/shelf/cache", limit: 64 << 20) { print($0) }
/// let network = HTTPPipeline([AsyncHTTPClientExecutor()], cache: ResponseCache(disk: disk))
/// ```
///
/// A stored response survives the end of the process at any moment; a power failure may undo the last ones. Bodies of
/// more than 256 KB are files beside the database. Above the limit, the least recently used responses are removed in
/// the background, until a tenth of it is free. A use is recorded once a minute, and written with the next response.
///
/// Several processes may use one folder. The last process that has a damaged file open deletes it and creates it again.
public final class SQLiteResponseCache: CacheProvider {
    private struct State {
        /// The open cache; `nil` after the cache was found damaged, unless it could be created again.
        var open: CacheFile.Opened?
        /// The times of uses that are to be written, by the keys of the responses.
        var uses: [String: Double] = [:]
        /// The task that removes responses in the background.
        var pruning: Task<Void, Never>?
    }
    private let file: CacheFile
    private let limit: Int
    private let report: @Sendable (BackplaneError) -> Void
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    private let evictions = Atomic(0)

    /// The time after which another use of a response is recorded, in seconds.
    private static let useInterval = 60.0
    /// The number of recorded uses at which they are written without waiting for a response.
    private static let mostUses = 256
    /// The number of responses that are removed in one transaction, between which others can be stored.
    private static let pruningStep = 256

    /// Opens the cache in its own folder, which is created if necessary.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - limit: The maximum number of bytes of all responses.
    ///   - report: A function that receives a `network.cache` error when a damaged file was found.
    /// - Throws: `network.cache` if the files cannot be opened for writing.
    public convenience init(
        folder: String, limit: Int = 256 << 20, report: @escaping @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        try self.init(folder: folder, limit: limit, now: { Date() }, report: report)
    }

    /// - Parameter now: The time of uses, by which the least recently used responses are removed.
    package init(
        folder: String, limit: Int, now: @escaping @Sendable () -> Date,
        report: @escaping @Sendable (BackplaneError) -> Void
    ) throws(BackplaneError) {
        file = CacheFile(folder: folder)
        (self.limit, self.now, self.report) = (limit, now, report)
        let opened = try file.open(report)
        state = Mutex(State(open: opened))
        let bytes = try? opened.database.unsafeRead { try Self.totals($0).bytes }
        if let bytes, bytes > limit { prune(opened.database) }
    }

    deinit {
        guard let open = state.withLock({ $0.open }) else { return }
        let uses = takeUses()
        try? open.database.write { try Self.write(uses, in: $0) }
        // The last connection to be closed moves the log into the file, so it must not be one that only reads.
        open.database.invalidateReadOnlyConnections()
        try? open.database.close()
    }

    /// Returns the response with a key.
    ///
    /// A response whose body is missing or has another length than it was stored with is removed.
    ///
    /// - Throws: `network.cache`.
    public func load(_ key: String) async throws -> CachedResponse? {
        guard let database = state.withLock({ $0.open?.database }) else { return nil }
        do {
            // Twice, because another process may replace the body meanwhile.
            for _ in 0..<2 {
                switch try await database.unsafeRead({ [file] in try CacheRow.find(key, in: $0, file) }) {
                case .intact(let response, let used):
                    noteUse(of: key, after: used, database)
                    return response
                case .broken(let id, let name):
                    try await database.write { db in
                        try db.execute(
                            sql: "DELETE FROM entries WHERE id = ? AND file IS ?", arguments: [id, name])
                    }
                    if let name { file.removeBody(name) }
                case nil: return nil
                }
            }
            return nil
        } catch {
            throw failure(error, of: database)
        }
    }

    /// Stores a response, which has replaced the one with the same key when the function returns.
    ///
    /// A response that exceeds the limit of the cache by itself is not stored.
    ///
    /// - Throws: `network.cache`, for example if the disk is full; the former response then remains.
    public func store(_ response: CachedResponse, for key: String) async throws {
        guard let database = state.withLock({ $0.open?.database }) else {
            throw file.damage(nil)
        }
        let uses = takeUses(), used = now().timeIntervalSinceReferenceDate, isFitting = response.cost <= limit
        do {
            let bytes = try await database.writeWithoutTransaction { [file] db in
                let isLarge = isFitting && response.body.count > CacheFile.inlineLimit
                let name = isLarge ? try file.write(response.body) : nil
                var former: String?, bytes = 0
                do {
                    try db.inTransaction(.immediate) {
                        former = try CacheRow.fileName(of: key, in: db)
                        if isFitting {
                            try CacheRow.save(response, for: key, used: used, file: name, in: db)
                        } else {
                            try db.execute(sql: "DELETE FROM entries WHERE key = ?", arguments: [key])
                        }
                        try Self.write(uses, in: db)
                        bytes = try Self.totals(db).bytes
                        return .commit
                    }
                } catch {
                    if let name { file.removeBody(name) }
                    throw error
                }
                if let former { file.removeBody(former) }
                return bytes
            }
            if bytes > limit { prune(database) }
        } catch {
            throw failure(error, of: database)
        }
    }

    /// Removes the responses that a rule selects.
    ///
    /// - Throws: `network.cache`.
    @discardableResult
    public func removeExpired(_ rule: CacheExpiry) async throws -> Int {
        guard let database = state.withLock({ $0.open?.database }) else { return 0 }
        do {
            // Most changes of a server concern no stored response, and need no transaction that writes.
            guard try await database.unsafeRead({ try CacheRow.exists(for: rule, in: $0) }) else { return 0 }
            return try await database.writeWithoutTransaction { [file] db in
                var files: [String] = [], count = 0
                let (condition, arguments) = CacheRow.condition(of: rule)
                try db.inTransaction(.immediate) {
                    files = try String.fetchAll(
                        db, sql: "SELECT file FROM entries WHERE file IS NOT NULL AND \(condition)",
                        arguments: arguments)
                    try db.execute(sql: "DELETE FROM entries WHERE \(condition)", arguments: arguments)
                    count = db.changesCount
                    return .commit
                }
                for name in files { file.removeBody(name) }
                try? Self.giveBackSpace(db)
                return count
            }
        } catch {
            throw failure(error, of: database)
        }
    }

    // MARK: The least recently used

    /// Records a use, which is written later.
    private func noteUse(of key: String, after last: Double, _ database: DatabasePool) {
        let used = now().timeIntervalSinceReferenceDate
        guard abs(used - last) > Self.useInterval else { return }
        let isFull = state.withLock { state in
            state.uses[key] = used
            return state.uses.count >= Self.mostUses
        }
        guard isFull else { return }
        let uses = takeUses()
        // On a full disk, the record of uses is lost, but not the responses.
        database.asyncWrite({ try Self.write(uses, in: $0) }, completion: { _, _ in })
    }

    private func takeUses() -> [String: Double] {
        state.withLock { state in
            defer { state.uses = [:] }
            return state.uses
        }
    }

    private static func write(_ uses: [String: Double], in db: Database) throws {
        guard !uses.isEmpty else { return }
        let statement = try db.cachedStatement(sql: "UPDATE entries SET used = ? WHERE key = ?")
        for (key, used) in uses { try statement.execute(arguments: [used, key]) }
    }

    private static func totals(_ db: Database) throws -> (entries: Int, bytes: Int) {
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT entries, bytes FROM totals"))
        return (row?[0] ?? 0, row?[1] ?? 0)
    }

    /// Removes the least recently used responses in the background, unless that is in progress.
    private func prune(_ database: DatabasePool) {
        state.withLock { state in
            guard state.pruning == nil else { return }
            state.pruning = Task(priority: .utility) { [self] in
                var isDone = false
                // After a failure, the next stored response tries again.
                while !isDone, let step = try? await removeLeastUsed(database) {
                    evictions.add(step.count, ordering: .relaxed)
                    isDone = step.isLast
                }
                self.state.withLock { $0.pruning = nil }
            }
        }
    }

    /// Removes some responses; the last step has removed enough.
    private func removeLeastUsed(_ database: DatabasePool) async throws -> (count: Int, isLast: Bool) {
        let uses = takeUses(), goal = limit / 10 * 9
        return try await database.writeWithoutTransaction { [file] db in
            var files: [String] = [], count = 0, bytes = 0
            try db.inTransaction(.immediate) {
                try Self.write(uses, in: db)
                bytes = try Self.totals(db).bytes
                let rows = try Row.fetchAll(
                    db.cachedStatement(sql: "SELECT id, cost, file FROM entries ORDER BY used LIMIT ?"),
                    arguments: [Self.pruningStep])
                let delete = try db.cachedStatement(sql: "DELETE FROM entries WHERE id = ?")
                for row in rows where bytes > goal {
                    try delete.execute(arguments: [row[0] as Int64])
                    bytes -= row[1] as Int
                    count += 1
                    if let name = row[2] as String? { files.append(name) }
                }
                return .commit
            }
            for name in files { file.removeBody(name) }
            let isLast = bytes <= goal || count == 0
            if isLast { try? Self.giveBackSpace(db) }
            return (count, isLast)
        }
    }

    /// Shortens the file if more than a quarter of it is free, for example after a flush or with a lower limit.
    private static func giveBackSpace(_ db: Database) throws {
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        if free > pages / 4 { try db.execute(sql: "PRAGMA incremental_vacuum") }
    }

    /// Waits for the end of removals in the background.
    package func settle() async {
        while let pruning = state.withLock({ $0.pruning }) { await pruning.value }
    }

    // MARK: Damage

    /// Converts an error, and creates the cache again if the error indicates damage.
    private func failure(_ error: any Error, of database: DatabasePool) -> any Error {
        if error is CancellationError { return error }
        guard let error = error as? DatabaseError, error.isDamage else { return file.failure(error) }
        let damage = file.damage(error)
        guard close(database) else { return damage }
        report(damage)
        if let opened = try? file.open(report) { state.withLock { $0.open = opened } }
        return damage
    }

    /// Closes a damaged database; returns `false` if another task has done so.
    private func close(_ database: DatabasePool) -> Bool {
        let open = state.withLock { state -> CacheFile.Opened? in
            guard let open = state.open, open.database === database else { return nil }
            (state.open, state.uses) = (nil, [:])
            return open
        }
        guard let open else { return false }
        file.markDamaged()
        try? open.database.close()
        return true
    }
}

extension SQLiteResponseCache: InspectableCache {
    package func entries(of url: String?, limit: Int) async throws -> [CacheEntry]? {
        guard let database = state.withLock({ $0.open?.database }) else { return [] }
        do {
            return try await database.read { try CacheRow.list(of: url, limit: limit, in: $0) }
        } catch {
            throw failure(error, of: database)
        }
    }

    package var usage: CacheUsage? {
        get async throws {
            guard let database = state.withLock({ $0.open?.database }) else { return nil }
            do {
                let (entries, bytes) = try await database.read { try Self.totals($0) }
                return CacheUsage(
                    entries: entries, bytes: bytes, limit: limit, evictions: evictions.load(ordering: .relaxed))
            } catch {
                throw failure(error, of: database)
            }
        }
    }
}
#endif
