#if Engines
import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The repair of a damaged store: what can be read is copied, record by record, into a new file, and the damaged one is kept beside it.
///
/// A process may be killed at any moment of it. Until the copy is whole its name is `store.sqlite.salvaging`, and the next process begins
/// again; from then on it is `store.sqlite.salvaged`, and the next process only puts it in place.
struct StoreSalvage {
    let path: String
    private var unfinished: String { path + ".salvaging" }
    private var finished: String { path + ".salvaged" }

    /// Puts in place a copy that a killed process left whole.
    ///
    /// - Returns: what was done, for the log; `nil`: there was nothing to do.
    func complete() throws -> BackplaneError? {
        guard FileManager.default.fileExists(atPath: finished) else { return nil }
        let aside = try putInPlace()
        let name = aside.map { "; the damaged file is kept as \(URL(filePath: $0).lastPathComponent)" } ?? ""
        return BackplaneError(
            .storeDamaged,
            "the store was damaged, and the process that saved its readable records was killed; the copy that it had made is now in use\(name)",
            at: path)
    }

    /// - Parameter reason: what is wrong with the file.
    /// - Returns: what was saved and what was not, for the log.
    func run(reason: String) throws -> BackplaneError {
        try? FileManager.default.removeItem(atPath: unfinished)
        try StoreFile.makePrivate(unfinished)
        let (saved, gaps) = try copy()
        guard rename(unfinished, finished) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let aside = try putInPlace()
        return BackplaneError(.storeDamaged, Self.message(reason, saved, lost: gaps, aside: aside), at: path)
    }

    /// Copies all records into a database without a write-ahead log, so that it is one file.
    private func copy() throws -> (saved: [RecordWalk.Place: Int], lost: [(place: RecordWalk.Place?, count: Int)]) {
        let target = try DatabaseQueue(path: unfinished)
        try StoreFile.migrator.migrate(target)
        guard let pages = DatabasePages(path) else { throw CocoaError(.fileReadUnknown) }
        var saved: [RecordWalk.Place: Int] = [:], lost: [(place: RecordWalk.Place?, count: Int)] = []
        // One transaction: an unfinished copy is thrown away whole in any case.
        try target.write { db in
            let insert = try db.makeStatement(
                sql: "INSERT OR IGNORE INTO record (namespace, collection, id, value) VALUES (?, ?, ?, ?)")
            var walk = RecordWalk(pages) { place, record in
                try insert.execute(arguments: [place.namespace, place.collection, record.id, Data(record.value)])
                saved[place, default: 0] += db.changesCount
            }
            try walk.run()
            let size = walk.recordsPerPage
            for gap in walk.gaps {
                for place in Set([gap.before, gap.after]) where place != nil || gap.before == gap.after {
                    lost.append((place, size))
                }
            }
        }
        try target.close()
        return (saved, lost)
    }

    /// - Returns: the damaged file's new name.
    private func putInPlace() throws -> String? {
        var aside: String?
        // A second name, so that there is no moment at which a log is apart from its file. One that has two has been kept already.
        if let links = try? FileManager.default.attributesOfItem(atPath: path)[.referenceCount] as? Int, links == 1 {
            let name = path + ".damaged-\(Int(Date.now.timeIntervalSince1970 * 1_000))"
            for suffix in ["-wal", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                if link(path + suffix, name + suffix) != 0 {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: name + suffix)
                }
            }
            aside = name
        }
        for suffix in ["-wal", "-shm"] where unlink(path + suffix) != 0 && errno != ENOENT {
            throw CocoaError(.fileWriteUnknown)
        }
        guard rename(finished, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return aside
    }

    private static func message(
        _ reason: String, _ saved: [RecordWalk.Place: Int], lost: [(place: RecordWalk.Place?, count: Int)],
        aside: String?
    ) -> String {
        let total = saved.values.reduce(0, +), collections = "\(saved.count) collection\(saved.count == 1 ? "" : "s")"
        var about: [String: Int] = [:]
        for (place, count) in lost {
            about[place.map { "\($0.namespace)/\($0.collection)" } ?? "unknown collections", default: 0] +=
                count
        }
        let losses = about.sorted { $0.key < $1.key }.map { "at most about \($0.value) of \($0.key)" }
        let name = aside.map { URL(filePath: $0).lastPathComponent } ?? "store.sqlite.damaged-…"
        return
            "the store was damaged (\(reason)); \(total) record\(total == 1 ? "" : "s") in \(collections) were saved into a new file, "
            + (losses.isEmpty ? "none was lost" : "lost: \(losses.joined(separator: ", "))")
            + "; the damaged file is kept as \(name): restore what is missing from a backup, and delete it when it is no longer needed"
    }
}
#endif
