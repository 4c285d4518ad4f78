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
    let support: FullTextSupport

    init(_ db: Database, in namespace: String, _ support: FullTextSupport) {
        (self.db, self.namespace, self.support) = (db, namespace, support)
    }

    // MARK: Pages

    /// Returns one page of the records that a query selects.
    func page(_ query: RecordQuery) throws -> RecordPage {
        try db.require(query.conditions, in: namespace)
        let change = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT MAX(change) FROM collections WHERE namespace = ?"), arguments: [namespace])
        guard let collection = try StoredCollection(query.collection, in: namespace, db, withIndexes: false) else {
            try requireSense(of: query)
            return RecordPage(records: [], namespaceChange: change ?? 0)
        }
        var page = PageInProgress(query, collection)
        switch query.selection {
        case .ids(let ids): try read(ids, in: collection, into: &page)
        case .search(let index, let text):
            let words = try SearchedWords(text, query)
            let table = try StoredIndex.ofTexts(index, of: collection, support, in: db)
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: table.searchSQL(query)),
                arguments: table.searchArguments(words, query, limit: page.rowLimit))
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
            sql: "SELECT id, version, checksum, \(value) FROM records WHERE collection = ? AND id = ?")
        for id in try Self.rest(of: ids, page.query) {
            // Not a cursor: a statement that has not come to its end cannot be used again.
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

    /// Validates a query of a missing collection, which has no records.
    private func requireSense(of query: RecordQuery) throws(BackplaneError) {
        if case .search(let index, let text) = query.selection {
            _ = try SearchedWords(text, query)
            throw .unindexed(query.collection, index, known: [])
        }
        guard case .range(let range) = query.selection else { return }
        if let index = range.index { throw .unindexed(query.collection, index, known: []) }
        _ = try KeyBounds(ofIDs: range, query)
    }

    // MARK: Counts

    /// Returns the number of records that a query selects.
    func count(_ query: RecordQuery) throws -> Int {
        try db.require(query.conditions, in: namespace)
        var query = query
        (query.after, query.isDescending) = (nil, false)
        guard let collection = try StoredCollection(query.collection, in: namespace, db, withIndexes: false) else {
            try requireSense(of: query)
            return 0
        }
        switch query.selection {
        case .range(let range) where range.index == nil && range.equal.isEmpty && range.bounds == nil:
            return collection.count
        case .range:
            let selection = try SQLSelection(query, collection, db)
            return try Int.fetchOne(db.cachedStatement(sql: selection.countSQL), arguments: selection.arguments) ?? 0
        case .search(let index, let text):
            let words = try SearchedWords(text, query)
            let table = try StoredIndex.ofTexts(index, of: collection, support, in: db)
            return try Int.fetchOne(
                db.cachedStatement(sql: table.countSQL), arguments: [FullTextTable.expression(words)]) ?? 0
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
        guard let collection = try StoredCollection(name, in: namespace, db, withIndexes: false) else {
            return ChangePage(changes: [], last: 0, hasMore: false, hasMissed: number > 0)
        }
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
                let value = try row.bytes(at: 5)
                let sum = RecordChecksum.of(
                    collection: collection.number, id: Data(id), version: version, value: value)
                if sum == row[4] { logged.record = StoredRecord(id: text, value: value, version: version) }
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
            db, sql: "SELECT number, name, count, change FROM collections WHERE namespace = ? ORDER BY name",
            arguments: [namespace])
        return try rows.map { row in
            let indexes = try StoredIndex.declared(of: row[0], in: db).filter { $0.state != .building }
                .map(\.definition).sorted { Array($0.name.utf8).precedes(Array($1.name.utf8)) }
            return CollectionSummary(
                definition: CollectionDefinition(row[1], indexes: indexes), count: row[2], change: row[3])
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
    private var records: [StoredRecord] = [], damaged: [StoredRecord] = []
    private var size = 0
    private var last: PageCursor?
    private var hasMore = false

    init(_ query: RecordQuery, _ collection: StoredCollection) {
        (self.query, self.collection) = (query, collection)
        limit = max(0, min(query.limit, RecordLimits.page))
    }

    /// Adds a row: an id, a version, a checksum, a value and, for an index, a key or, for a search, the rank and the
    /// number.
    ///
    /// - Returns: `false` if the page was full.
    mutating func add(_ row: Row) throws -> Bool {
        guard records.count + damaged.count < limit, size < RecordLimits.pageBytes else {
            hasMore = true
            return false
        }
        let id = try row.bytes(at: 0), value = try row.bytes(at: 3)
        size += value.count
        var record = StoredRecord(id: String(decoding: id, as: UTF8.self), value: value, version: row[1])
        let sum = RecordChecksum.of(collection: collection.number, id: Data(id), version: record.version, value: value)
        if query.isWithoutValues || sum == row[2] {
            records.append(record)
        } else {
            record.value = []
            damaged.append(record)
        }
        switch query.selection {
        case .search: last = PageCursor(rank: row[4], number: row[5])
        case .range where query.isOfIndex: last = PageCursor(key: try row.bytes(at: 4), id: id)
        case .range, .ids: last = PageCursor(id: id)
        }
        return true
    }

    /// Returns the page.
    func page(namespaceChange: Int64) -> RecordPage {
        RecordPage(
            records: records, damaged: damaged, next: hasMore ? last : nil, change: collection.change,
            namespaceChange: namespaceChange)
    }
}
#endif
