#if Engines
import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import GRDB

/// The table of a full-text index: a row for each record, with the number of the record's row, and a column for each
/// property.
///
/// The table stores its own texts, because FTS5 cannot read the texts in the records' JSON.
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
        let tokenizer =
            switch indexing.tokenizer {
            case .unicode: "unicode61 remove_diacritics 2"
            case .english: "porter unicode61 remove_diacritics 2"
            case .substrings: "trigram"
            }
        try db.execute(
            sql: """
                CREATE VIRTUAL TABLE \(name) USING fts5(\(columns.joined(separator: ", ")), tokenize = '\(tokenizer)'\(prefix))
                """)
    }

    /// Deletes some rows of an index's table, and the table itself once it is empty; another call continues.
    ///
    /// Each call is a short transaction, so that other writers do not wait for the deletion of all rows.
    ///
    /// - Returns: `true` if nothing is left.
    static func drop(_ index: Int64, atMost limit: Int, in db: Database) throws -> Bool {
        let name = name(of: index)
        guard try db.tableExists(name) else { return true }
        try db.execute(
            sql: "DELETE FROM \(name) WHERE rowid IN (SELECT rowid FROM \(name) LIMIT ?)", arguments: [limit])
        if db.changesCount == limit { return false }
        try db.execute(sql: "DROP TABLE \(name)")
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

    /// Removes all rows.
    ///
    /// Another table would take less time, but a change of the schema makes every connection prepare all its statements
    /// again.
    func clear(in db: Database) throws { try db.execute(sql: "DELETE FROM \(name)") }

    // MARK: Searches

    /// A statement with its arguments.
    typealias Statement = (sql: String, arguments: StatementArguments)

    /// Returns the statement for a page of the records with the words of a search.
    ///
    /// FTS5 sorts the rows, and returns rows of equal rank in the order of their numbers. If FTS5 can find none of the
    /// words, all matching records are equally relevant.
    func search(_ words: SearchedWords, _ query: RecordQuery, limit: Int) -> Statement {
        let isRanked = !indexed(words).isEmpty, value = query.isWithoutValues ? "x''" : "r.value"
        // The plus signs keep FTS5 from reading the rank as the name of a function.
        let rank = isRanked ? "+\(name).rank" : "0.0"
        var (condition, arguments) = condition(words)
        if let place = query.after?.searchPlace {
            let sign = query.isDescending ? "<" : ">"
            condition += " AND (\(rank) \(sign) ? OR (\(rank) = ? AND +\(name).rowid > ?))"
            arguments += [place.rank, place.rank, place.number]
        }
        let order = isRanked ? "\(name).rank\(query.isDescending ? " DESC" : "")" : "\(name).rowid"
        return (
            """
            SELECT r.id, r.version, \(value), \(isRanked ? "\(name).rank" : "0.0"), \(name).rowid
            FROM \(name) CROSS JOIN records r ON r.number = \(name).rowid
            WHERE \(condition) ORDER BY \(order) LIMIT ?
            """, arguments + [limit]
        )
    }

    /// Returns the statement that counts the records with the words of a search.
    func count(_ words: SearchedWords) -> Statement {
        let (condition, arguments) = condition(words)
        return ("SELECT COUNT(*) FROM \(name) WHERE \(condition)", arguments)
    }

    /// Returns the condition that a row has all words.
    ///
    /// The index of substrings contains none of fewer than three characters, so that the texts themselves are searched
    /// for shorter words.
    private func condition(_ words: SearchedWords) -> Statement {
        let indexed = indexed(words)
        var conditions: [String] = [], arguments = StatementArguments()
        if !indexed.isEmpty {
            conditions.append("\(name) MATCH ?")
            // A phrase contains no quotation mark, because `SearchedWords` ends it there.
            let expression = indexed.map { "\"\($0.text)\"\($0.isPrefix ? "*" : "")" }.joined(separator: " ")
            arguments += [expression]
        }
        for phrase in words.phrases where !isIndexed(phrase) {
            conditions.append("contains_text(?, \(columns.joined(separator: ", ")))")
            arguments += [phrase.text]
        }
        return (conditions.joined(separator: " AND "), arguments)
    }

    private func indexed(_ words: SearchedWords) -> [SearchedWords.Phrase] { words.phrases.filter(isIndexed) }

    private func isIndexed(_ phrase: SearchedWords.Phrase) -> Bool {
        indexing.tokenizer != .substrings || phrase.text.unicodeScalars.count >= 3
    }

    /// The function of SQL that returns whether its first argument is part of one of the others, regardless of case.
    static let containsText = DatabaseFunction("contains_text", argumentCount: nil, pure: true) { values in
        // Scalar by scalar, as FTS5 folds them: the lower case of a whole text depends on the neighbours of a letter.
        func folded(_ value: DatabaseValue) -> [UInt8] {
            (String.fromDatabaseValue(value) ?? "").unicodeScalars.flatMap { $0.properties.lowercaseMapping.utf8 }
        }
        guard let word = values.first.map(folded) else { return false }
        return values.dropFirst().contains { !folded($0).ranges(of: word).isEmpty }
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
