#if Engines
import BackplaneStorage
import Foundation
import GRDB

extension RecordChange {
    /// Executes the change within the transaction of `db`.
    func apply(to db: Database, in namespace: String) throws {
        switch self {
        case .save(let collection, let record):
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO record (namespace, collection, id, value) VALUES (?, ?, ?, ?)"
            )
            .execute(arguments: [namespace, collection, record.id, Data(record.value)])
        case .delete(let collection, let id):
            try db.cachedStatement(sql: "DELETE FROM record WHERE namespace = ? AND collection = ? AND id = ?")
                .execute(arguments: [namespace, collection, id])
        case .deleteAll(let collection):
            try db.cachedStatement(sql: "DELETE FROM record WHERE namespace = ? AND collection = ?").execute(
                arguments: [namespace, collection])
        }
    }
}

extension RecordQuery {
    /// Returns the records that the query selects, and their total number.
    func page(in db: Database, _ namespace: String) throws -> RecordPage {
        // One JSON array for all ids, because SQLite limits the number of arguments.
        let chosen = ids == nil ? "" : "AND id IN (SELECT value FROM json_each(?))"
        var arguments: StatementArguments = [namespace, collection]
        if let ids { arguments += [String(decoding: try JSONEncoder().encode(ids), as: UTF8.self)] }
        let condition = "FROM record WHERE namespace = ? AND collection = ? \(chosen)"
        let total = try Int.fetchOne(db.cachedStatement(sql: "SELECT COUNT(*) \(condition)"), arguments: arguments) ?? 0
        guard limit > 0 else { return RecordPage(records: [], total: total) }
        let statement = try db.cachedStatement(sql: "SELECT id, value \(condition) ORDER BY id LIMIT ? OFFSET ?")
        let rows = try Row.fetchAll(statement, arguments: arguments + [limit, offset])
        return RecordPage(
            records: rows.map { StoredRecord(id: $0["id"], value: Array($0["value"] as Data)) }, total: total)
    }
}
#endif
