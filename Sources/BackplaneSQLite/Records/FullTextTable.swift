#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The table of a full-text index: a row for each record, whose number is that of the record's row, and a column for
/// each property.
///
/// It stores its own texts, because FTS5 cannot read those in the records' JSON. The row of a record whose bytes have
/// changed can therefore be removed without them.
struct FullTextTable {
    private let index: Int64
    private let indexing: TextIndexing
    private let paths: [[[UInt8]]]
    private var name: String { Self.name(of: index) }
    private var columns: [String] { paths.indices.map { "c\($0)" } }

    init(_ index: Int64, _ paths: [String], _ indexing: TextIndexing) {
        (self.index, self.indexing, self.paths) = (index, indexing, IndexKey.names(of: paths))
    }

    private static func name(of index: Int64) -> String { "text_\(index)" }

    // MARK: The table

    func create(in db: Database) throws {
        let lengths = Set(indexing.prefixes).sorted().map { "\($0)" }.joined(separator: " ")
        let prefix = lengths.isEmpty ? "" : ", prefix = '\(lengths)'"
        try db.execute(
            sql: """
                CREATE VIRTUAL TABLE \(name) USING fts5(\(columns.joined(separator: ", ")), tokenize = '\(indexing.tokenizer.sqlName)'\(prefix))
                """)
    }

    /// Removes all rows; creating a new table costs less than deleting each of them.
    func clear(in db: Database) throws {
        try db.execute(sql: "DROP TABLE \(name)")
        try create(in: db)
    }

    /// The tables in which FTS5 stores the rows of a table.
    private static let parts = ["content", "docsize", "data"]

    /// Deletes the table of an index, and some of its rows; another call continues.
    ///
    /// Deleting the rows with their table would make others wait for all of them, and FTS5 takes far longer to delete
    /// its rows itself. The tables with the rows are therefore first renamed, so that they no longer belong to FTS5.
    ///
    /// - Returns: `true` if nothing is left.
    static func drop(_ index: Int64, atMost limit: Int, in db: Database) throws -> Bool {
        let name = name(of: index)
        if try db.tableExists(name) {
            for part in parts {
                try db.execute(sql: "ALTER TABLE \(name)_\(part) RENAME TO removed_\(index)_\(part)")
            }
            // FTS5 reads the first rows, which describe the others, when it opens a table.
            try db.execute(
                sql: """
                    CREATE TABLE \(name)_data (id INTEGER PRIMARY KEY, block BLOB);
                    INSERT INTO \(name)_data SELECT * FROM removed_\(index)_data WHERE id <= 10;
                    DROP TABLE \(name)
                    """)
        }
        for part in parts {
            let rows = "removed_\(index)_\(part)"
            guard try db.tableExists(rows) else { continue }
            try db.execute(
                sql: "DELETE FROM \(rows) WHERE rowid IN (SELECT rowid FROM \(rows) LIMIT ?)", arguments: [limit])
            if db.changesCount == limit { return false }
            try db.execute(sql: "DROP TABLE \(rows)")
        }
        return true
    }

    // MARK: Rows

    func texts(of value: [UInt8]) -> [String] { TextProperties.texts(in: value, at: paths) }

    /// Inserts the texts of a record, replacing its earlier ones.
    func enter(_ texts: [String], record: Int64, in db: Database) throws {
        let places = texts.map { _ in ", ?" }.joined()
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO \(name) (rowid, \(columns.joined(separator: ", "))) VALUES (?\(places))"
        ).execute(arguments: [record] + StatementArguments(texts))
    }

    func remove(record: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM \(name) WHERE rowid = ?").execute(arguments: [record])
    }

    // MARK: Searches

    /// Returns the statement for the records with the words of a search, whose arguments are an expression, the
    /// position of the query's cursor, if any, as a rank and a number, and a limit.
    ///
    /// FTS5 sorts the rows, and returns those of equal rank in the order of their numbers.
    func searchSQL(_ query: RecordQuery) -> String {
        let value = query.isWithoutValues ? "x''" : "r.value", order = query.isDescending ? " DESC" : ""
        // The signs keep FTS5 from reading the rank as the name of a function.
        let rest =
            query.after == nil
            ? ""
            : " AND (+\(name).rank \(query.isDescending ? "<" : ">") ?2 OR (+\(name).rank = ?2 AND +\(name).rowid > ?3))"
        return """
            SELECT r.id, r.version, r.checksum, \(value), \(name).rank, \(name).rowid
            FROM \(name) CROSS JOIN records r ON r.number = \(name).rowid
            WHERE \(name) MATCH ?1\(rest) ORDER BY \(name).rank\(order) LIMIT ?\(query.after == nil ? 2 : 4)
            """
    }

    /// The arguments of ``searchSQL(_:)``.
    func searchArguments(_ words: SearchedWords, _ query: RecordQuery, limit: Int) -> StatementArguments {
        guard let place = query.after?.searchPlace else { return [Self.expression(words), limit] }
        return [Self.expression(words), place.rank, place.number, limit]
    }

    /// The statement that counts the records, whose argument is an expression.
    var countSQL: String { "SELECT COUNT(*) FROM \(name) WHERE \(name) MATCH ?" }

    /// Returns the words of a search as an expression of FTS5, without special syntax.
    static func expression(_ words: SearchedWords) -> String {
        words.phrases.map { phrase in
            // A phrase has no quotation mark, which `SearchedWords` takes for its end.
            "\"\(phrase.text)\"\(phrase.isPrefix ? "*" : "")"
        }.joined(separator: " ")
    }
}

extension TextIndexing {
    /// The settings as stored in the table `indexes`: the tokenizer's name and the lengths of prefixes, separated by
    /// spaces.
    var stored: String { ([tokenizer.rawValue] + prefixes.map { "\($0)" }).joined(separator: " ") }

    /// Reads the stored form; returns `nil` if this version does not know it.
    init?(stored: String) {
        let parts = stored.split(separator: " ")
        guard let tokenizer = parts.first.flatMap({ TextTokenizer(rawValue: String($0)) }) else { return nil }
        self.init(tokenizer, prefixes: parts.dropFirst().compactMap { Int($0) })
    }
}
#endif
