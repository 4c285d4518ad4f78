#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The queries of a store, each within one snapshot of the database.
struct RecordReader {
    let db: Database
    let namespace: String

    init(_ db: Database, in namespace: String) { (self.db, self.namespace) = (db, namespace) }

    /// Returns a collection; if none has the name, an empty one without indexes.
    private func collection(_ name: String) throws -> StoredCollection {
        try StoredCollection(name, in: namespace, db, withIndexes: false) ?? StoredCollection(missing: name)
    }

    // MARK: Pages

    /// Returns one page of the records that a query selects.
    func page(_ query: RecordQuery) throws -> RecordPage {
        try db.require(query.conditions, in: namespace)
        let change = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT MAX(change) FROM collections WHERE namespace = ?"), arguments: [namespace])
        let collection = try collection(query.collection)
        var page = PageInProgress(query, collection)
        switch query.selection {
        case .ids(let ids): try read(ids, in: collection, into: &page)
        case .search(let index, let text):
            let words = try SearchedWords(text, query)
            let found = try StoredIndex.named(index, isOfTexts: true, of: collection, in: db)
            guard let search = found.fullText?.search(words, query, limit: page.rowLimit) else { break }
            let rows = try Row.fetchCursor(db.cachedStatement(sql: search.sql), arguments: search.arguments)
            while let row = try rows.next(), try page.add(row) {}
        case .range:
            let selection = try SQLSelection(query, collection, db)
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: selection.pageSQL), arguments: selection.arguments + [page.rowLimit])
            while let row = try rows.next(), try page.add(row) {}
        }
        return page.page(namespaceChange: change ?? 0)
    }

    private func read(_ ids: [String], in collection: StoredCollection, into page: inout PageInProgress) throws {
        let value = page.query.isWithoutValues ? "x''" : "value"
        let statement = try db.cachedStatement(
            sql: "SELECT id, version, \(value) FROM records WHERE collection = ? AND id = ?")
        for id in try Self.rest(of: ids, page.query) {
            // Not a cursor, because a statement cannot be reused before its end.
            if let row = try Row.fetchOne(statement, arguments: [collection.number, Data(id)]), try !page.add(row) {
                return
            }
        }
    }

    /// Returns the ids after the cursor of a query, in its order.
    private static func rest(of ids: [String], _ query: RecordQuery) throws(BackplaneError) -> [[UInt8]] {
        let start = try KeyBounds(ofIDs: RecordRange(), query).start.key
        let sorted = Set(ids.map { Array($0.utf8) }).sorted { query.isDescending ? $1.precedes($0) : $0.precedes($1) }
        guard query.after != nil else { return sorted }
        return sorted.filter { query.isDescending ? $0.precedes(start) : start.precedes($0) }
    }

    // MARK: Counts

    /// Returns the number of records that a query selects.
    func count(_ query: RecordQuery) throws -> Int {
        try db.require(query.conditions, in: namespace)
        var query = query
        (query.after, query.isDescending) = (nil, false)
        let collection = try collection(query.collection)
        switch query.selection {
        case .range(let range) where range.index == nil && range.equal.isEmpty && range.bounds == nil:
            return collection.count
        case .range:
            let selection = try SQLSelection(query, collection, db)
            return try Int.fetchOne(db.cachedStatement(sql: selection.countSQL), arguments: selection.arguments) ?? 0
        case .search(let index, let text):
            let words = try SearchedWords(text, query)
            let found = try StoredIndex.named(index, isOfTexts: true, of: collection, in: db)
            guard let search = found.fullText?.count(words) else { return 0 }
            return try Int.fetchOne(db.cachedStatement(sql: search.sql), arguments: search.arguments) ?? 0
        case .ids(let ids):
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM records WHERE collection = ? AND id = ?")
            return try Self.rest(of: ids, query).count(where: {
                try Int.fetchOne(statement, arguments: [collection.number, Data($0)]) != nil
            })
        }
    }

    // MARK: Changes

    /// Returns changes of a collection from its log.
    func changes(of name: String, since number: Int64, limit: Int) throws -> ChangePage {
        let collection = try collection(name)
        let hasMissed = number < collection.trimmed || number > collection.change
        let first = hasMissed ? collection.trimmed : number, limit = max(0, min(limit, RecordLimits.page))
        var page = ChangePage(changes: [], last: first, hasMore: false, hasMissed: hasMissed), size = 0
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: SQLSelection.changesSQL), arguments: [collection.number, first, limit + 1])
        while let row = try rows.next() {
            guard page.changes.count < limit, size < RecordLimits.pageBytes else {
                page.hasMore = true
                break
            }
            let id = try row.bytes(at: 2), text = String(decoding: id, as: UTF8.self)
            var logged = LoggedChange(number: row[0], kind: LoggedChange.Kind(rawValue: row[1]) ?? .update, id: text)
            if let version = row[3] as Int64? {
                let value = try row.bytes(at: 4)
                logged.record = StoredRecord(id: text, value: value, version: version)
                size += value.count
            }
            page.changes.append(logged)
            page.last = logged.number
        }
        return page
    }

    // MARK: Lists

    /// Returns the collections of the namespace.
    func collections() throws -> [CollectionSummary] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT number, name, count, change, changed FROM collections WHERE namespace = ? ORDER BY name",
            arguments: [namespace])
        return try rows.map { row in
            let indexes = try StoredIndex.all(of: row[0], in: db).filter { $0.state == .ready }.map(\.definition)
                .sorted { Array($0.name.utf8).precedes(Array($1.name.utf8)) }
            return CollectionSummary(
                definition: CollectionDefinition(row[1], indexes: indexes), count: row[2], change: row[3],
                changed: row[3] as Int64 == 0 ? nil : row[4])
        }
    }

    /// Returns the number of bytes of the values of a collection, without reading the values themselves.
    func size(of collection: String) throws -> Int64 {
        let sum = try Int64.fetchOne(
            db,
            sql: """
                SELECT SUM(LENGTH(value)) FROM records
                WHERE collection = (SELECT number FROM collections WHERE namespace = ? AND name = ?)
                """, arguments: [namespace, collection])
        return sum ?? 0
    }
}

/// A page to which rows are added until it is full.
private struct PageInProgress {
    let query: RecordQuery
    let limit: Int
    /// The number of rows to read to determine whether there is another page; 0 for a page without records.
    var rowLimit: Int { limit == 0 ? 0 : limit + 1 }
    private let collection: StoredCollection
    private var records: [StoredRecord] = []
    private var size = 0
    private var last: PageCursor?
    private var hasMore = false

    init(_ query: RecordQuery, _ collection: StoredCollection) {
        (self.query, self.collection) = (query, collection)
        limit = max(0, min(query.limit, RecordLimits.page))
    }

    /// Adds a row: an id, a version and a value, with the key for an index, or the rank and the number for a search.
    ///
    /// - Returns: `false` if the page was full.
    mutating func add(_ row: Row) throws -> Bool {
        guard records.count < limit, size < RecordLimits.pageBytes else {
            hasMore = true
            return false
        }
        let id = try row.bytes(at: 0), value = try row.bytes(at: 2)
        size += value.count
        records.append(StoredRecord(id: String(decoding: id, as: UTF8.self), value: value, version: row[1]))
        switch query.selection {
        case .search: last = PageCursor(rank: row[3], number: row[4])
        case .range where query.isOfIndex: last = PageCursor(key: try row.bytes(at: 3), id: id)
        case .range, .ids: last = PageCursor(id: id)
        }
        return true
    }

    /// Returns the page.
    func page(namespaceChange: Int64) -> RecordPage {
        RecordPage(
            records: records, next: hasMore ? last : nil, change: collection.change, namespaceChange: namespaceChange)
    }
}

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
        SELECT c.number, c.kind, c.id, r.version, r.value FROM changes c
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
            // In ascending order, the record of the cursor is left out; in all other cases, the start is a bound of the
            // range.
            let begin = query.after != nil && !query.isDescending ? ">" : ">="
            let condition = "r.collection = ? AND r.id \(begin) ? AND r.id < ?"
            pageSQL =
                "SELECT r.id, r.version, \(value) FROM records r WHERE \(condition) ORDER BY r.id\(order) LIMIT ?"
            countSQL = "SELECT COUNT(*) FROM records r WHERE \(condition)"
            let (from, to) =
                query.isDescending ? (bounds.lower, bounds.start.key) : (bounds.start.key, bounds.upper)
            arguments = [collection.number, Data(from), Data(to)]
            return
        }
        let index = try StoredIndex.named(name, isOfTexts: false, of: collection, in: db)
        let bounds = try KeyBounds(range, properties: index.definition.paths.count, query)
        let condition =
            query.isDescending
            ? "e.\"index\" = ? AND (e.key, e.id) < (?, ?) AND e.key >= ?"
            : "e.\"index\" = ? AND (e.key, e.id) > (?, ?) AND e.key < ?"
        // With `CROSS JOIN`, SQLite does not begin with the records.
        pageSQL = """
            SELECT r.id, r.version, \(value), e.key FROM entries e CROSS JOIN records r
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
