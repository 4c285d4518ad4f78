#if Engines
import Backplane
import BackplaneStorage
import GRDB

/// The full-text tokenizers that the machine's SQLite provides.
///
/// SQLite may have been built without FTS5; `trigram` is part of it since 3.34.
struct FullTextSupport: Sendable {
    /// The tokenizers that are missing, with the reasons that SQLite reports.
    private let missing: [TextTokenizer: String]
    private let version: String

    /// Tests all tokenizers with empty temporary tables.
    init(_ db: Database) throws {
        version = try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "of an unknown version"
        var missing: [TextTokenizer: String] = [:]
        for tokenizer in [TextTokenizer.unicode, .english, .substrings] {
            do {
                try db.execute(
                    sql: """
                        CREATE VIRTUAL TABLE temp.tried USING fts5(text, tokenize = '\(tokenizer.sqlName)');
                        DROP TABLE temp.tried
                        """)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                missing[tokenizer] = error.message ?? "no reason given"
            }
        }
        self.missing = missing
    }

    /// A Boolean value that indicates whether no tokenizer is missing.
    var isComplete: Bool { missing.isEmpty }

    /// Returns whether an index is supported; value indexes always are.
    func includes(_ index: TextIndexing?) -> Bool { index.map { missing[$0.tokenizer] == nil } ?? true }

    /// Requires the tokenizer of an index.
    ///
    /// - Throws: `store.unsupported` if the tokenizer of an index is missing.
    func require(_ text: TextIndexing, of index: String, in collection: String) throws(BackplaneError) {
        guard let reason = missing[text.tokenizer] else { return }
        throw BackplaneError(
            .storeUnsupported,
            "the index `\(index)` needs the tokenizer `\(text.tokenizer.rawValue)`, which this machine's SQLite "
                + "\(version) does not have (\(reason)); install SQLite 3.34 or later with FTS5",
            at: collection)
    }
}

extension TextTokenizer {
    /// The tokenizer as an option of FTS5.
    var sqlName: String {
        switch self {
        case .unicode: "unicode61 remove_diacritics 2"
        case .english: "porter unicode61 remove_diacritics 2"
        case .substrings: "trigram"
        }
    }
}
#endif
