#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB
import Synchronization

/// A check of a store's whole file, which others can read and write at the same time.
final class StoreCheck: Sendable {
    /// The result of a check.
    struct Finding: Sendable {
        /// The damage of the file, in SQLite's words; `nil` if there is none.
        var damage: String?
        /// The locations of records whose stored bytes have changed, at most ``StoreCheck/listLimit``.
        var records: [String] = []
        /// The number of those records.
        var recordCount = 0
    }

    /// The maximum number of records that are listed.
    static let listLimit = 100
    private let path: String
    private let state = Mutex<(queue: DatabaseQueue?, isCancelled: Bool)>((nil, false))

    init(_ path: String) { self.path = path }

    /// Cancels the check, which then has no result.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.queue?.interrupt()
        }
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Reads the whole file on the calling thread.
    ///
    /// - Returns: The result, or `nil` if the check was cancelled.
    func run() throws -> Finding? {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(StoreFile.patience)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            defer { state.withLock { $0.queue = nil } }
            let isCancelled = state.withLock { state in
                state.queue = queue
                return state.isCancelled
            }
            if isCancelled { return nil }
            // `quick_check` would not compare the entries of indexes with the rows of their tables.
            let damage = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") }
            if self.isCancelled { return nil }
            if damage != "ok" { return Finding(damage: damage ?? "no answer") }
            return try checksums(queue)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return nil
        } catch let error as DatabaseError where error.isDamage {
            return Finding(damage: error.message ?? "SQLite \(error.resultCode.rawValue)")
        }
    }

    /// Compares the checksums of all records, in many short transactions, so that checkpoints do not have to wait.
    private func checksums(_ queue: DatabaseQueue) throws -> Finding? {
        var finding = Finding(), last: Int64 = 0, isAtEnd = false
        while !isAtEnd {
            if isCancelled { return nil }
            try queue.read { db in
                let rows = try Row.fetchCursor(
                    db.cachedStatement(
                        sql: """
                            SELECT number, collection, id, version, checksum, value FROM records WHERE number > ?
                            ORDER BY number LIMIT 500
                            """),
                    arguments: [last])
                isAtEnd = true
                while let row = try rows.next() {
                    (last, isAtEnd) = (row[0], false)
                    let id = try row.bytes(at: 2), value = try row.bytes(at: 5)
                    let sum = RecordChecksum.of(collection: row[1], id: Data(id), version: row[3], value: value)
                    if sum != row[4] { try add(collection: row[1], id, to: &finding, db) }
                }
            }
        }
        return finding
    }

    private func add(collection: Int64, _ id: [UInt8], to finding: inout Finding, _ db: Database) throws {
        finding.recordCount += 1
        guard finding.records.count < Self.listLimit else { return }
        let row = try Row.fetchOne(
            db, sql: "SELECT namespace, name FROM collections WHERE number = ?", arguments: [collection])
        let place = row.map { "\($0[0] as String)/\($0[1] as String)" } ?? "unknown collection"
        finding.records.append("\(place)/\(RecordLimits.shortened(String(decoding: id, as: UTF8.self)))")
    }
}

extension StoreCheck.Finding {
    /// Returns the findings as errors.
    func errors(at path: String) -> [BackplaneError] {
        var errors: [BackplaneError] = []
        if let damage {
            errors.append(.storeDamage(damage, at: path))
        }
        if recordCount > 0 {
            let more = recordCount > records.count ? " and \(recordCount - records.count) more" : ""
            errors.append(
                BackplaneError(
                    .storeDamaged,
                    "the stored bytes of \(recordCount) record\(recordCount == 1 ? "" : "s") have changed: \(records.joined(separator: ", "))\(more); restore them from a backup, or delete them",
                    at: path))
        }
        return errors
    }
}

extension BackplaneError {
    /// Returns the error for damage that was found while the store is open.
    static func storeDamage(_ reason: String, at path: String) -> BackplaneError {
        BackplaneError(
            .storeDamaged,
            "the store is damaged (\(reason)); its readable records are saved into a new file when it is next opened; restart the process that has it open",
            at: path)
    }
}
#endif
