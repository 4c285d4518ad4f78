#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// A range of records as SQL that finds the first one through an index and continues from there.
struct SQLSelection {
    /// The statement for a page, whose last argument is its limit.
    let pageSQL: String
    /// The statement that counts the records.
    let countSQL: String
    /// The arguments of both.
    let arguments: StatementArguments

    /// The statement for changes, whose arguments are the collection, the last number and a limit.
    static let changesSQL = """
        SELECT c.number, c.kind, c.id, r.version, r.checksum, r.value FROM changes c
        LEFT JOIN records r ON r.collection = c.collection AND r.id = c.id AND r.version = c.number
        WHERE c.collection = ? AND c.number > ? ORDER BY c.number LIMIT ?
        """

    /// Creates the statements for a query.
    ///
    /// - Throws: `store.unindexed`; `call.invalid-input` if the range or the cursor does not fit.
    init(_ query: RecordQuery, _ collection: StoredCollection, _ db: Database) throws {
        guard case .range(let range) = query.selection else { preconditionFailure("only ranges are read in this way") }
        let value = query.isWithoutValues ? "x''" : "r.value", order = query.isDescending ? " DESC" : ""
        guard let name = range.index else {
            let bounds = try KeyBounds(ofIDs: range, query)
            // Forwards from a cursor, its own record is left out; all other starts are limits of the range.
            let begin = query.after != nil && !query.isDescending ? ">" : ">="
            let condition = "r.collection = ? AND r.id \(begin) ? AND r.id < ?"
            pageSQL =
                "SELECT r.id, r.version, r.checksum, \(value) FROM records r WHERE \(condition) ORDER BY r.id\(order) LIMIT ?"
            countSQL = "SELECT COUNT(*) FROM records r WHERE \(condition)"
            let (from, to) =
                query.isDescending ? (bounds.lower, bounds.start.key) : (bounds.start.key, bounds.upper)
            arguments = [collection.number, Data(from), Data(to)]
            return
        }
        let indexes = try StoredIndex.all(of: collection.number, in: db).filter {
            $0.state == .ready && $0.fullText == nil
        }
        guard let index = indexes.first(where: { $0.definition.name.utf8.elementsEqual(name.utf8) }) else {
            throw BackplaneError.unindexed(query.collection, name, known: indexes.map(\.definition.name))
        }
        let bounds = try KeyBounds(range, properties: index.definition.paths.count, query)
        let condition =
            query.isDescending
            ? "e.\"index\" = ? AND (e.key, e.id) < (?, ?) AND e.key >= ?"
            : "e.\"index\" = ? AND (e.key, e.id) > (?, ?) AND e.key < ?"
        // CROSS JOIN keeps SQLite from beginning with the records.
        pageSQL = """
            SELECT r.id, r.version, r.checksum, \(value), e.key FROM entries e CROSS JOIN records r
            WHERE r.number = e.record AND \(condition) ORDER BY e.key\(order), e.id\(order) LIMIT ?
            """
        countSQL = "SELECT COUNT(*) FROM entries e WHERE \(condition)"
        arguments = [
            index.number, Data(bounds.start.key), Data(bounds.start.id),
            Data(query.isDescending ? bounds.lower : bounds.upper),
        ]
    }
}
#endif
