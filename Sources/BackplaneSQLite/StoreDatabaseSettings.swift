#if Engines
package import GRDB

/// The settings of a database that determine the cost of a write.
package struct StoreDatabaseSettings: Equatable, CustomStringConvertible {
    private let journalMode: String
    private let synchronous: Int
    private let pageSize: Int

    /// Reads the settings of a connection.
    package init(_ db: Database) throws {
        journalMode = try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "unknown"
        synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1
        pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? -1
    }

    /// The settings with their names, such as `journal_mode wal, synchronous FULL, page_size 4096`.
    package var description: String {
        let names = ["OFF", "NORMAL", "FULL", "EXTRA"]
        let name = names.indices.contains(synchronous) ? names[synchronous] : "\(synchronous)"
        return "journal_mode \(journalMode), synchronous \(name), page_size \(pageSize)"
    }
}
#endif
