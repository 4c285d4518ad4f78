#if Engines
import Backplane
import BackplaneStorage
import Foundation
import GRDB

/// The repair of a damaged store, which copies every readable record into a new file and keeps the damaged one.
///
/// The process can be killed at any time. An incomplete copy has the name `store.sqlite.salvaging`, and the next
/// process starts over; a complete copy has the name `store.sqlite.salvaged`, and the next process only renames it.
struct StoreSalvage {
    let path: String
    private var unfinished: String { path + ".salvaging" }
    private var finished: String { path + ".salvaged" }

    /// Removes the incomplete copy of a killed process, or moves its complete copy into place.
    ///
    /// - Returns: The report for the log, or `nil` if no copy was moved.
    func complete() throws -> BackplaneError? {
        removeUnfinished()
        guard FileManager.default.fileExists(atPath: finished) else { return nil }
        let aside = try putInPlace()
        let name = aside.map { "; the damaged file is kept as \(URL(filePath: $0).lastPathComponent)" } ?? ""
        return BackplaneError(
            .storeDamaged,
            "the store was damaged, and the process that was saving its readable records was killed; the copy that "
                + "it had completed is now in use\(name)",
            at: path)
    }

    /// Repairs the store.
    ///
    /// - Parameter reason: The kind of damage, in SQLite's words.
    /// - Returns: The report for the log, with the numbers of saved and lost records.
    func run(reason: String) throws -> BackplaneError {
        removeUnfinished()
        try StoreFile.makePrivate(unfinished)
        let (saved, losses) = try copy()
        guard rename(unfinished, finished) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let aside = try putInPlace()
        return BackplaneError(.storeDamaged, Self.message(reason, saved, lost: losses, aside: aside), at: path)
    }

    /// Removes an incomplete copy, and the journal that its transaction leaves when the process is killed.
    private func removeUnfinished() {
        for suffix in ["-journal", ""] { unlink(unfinished + suffix) }
    }

    /// Copies all readable records into a new database, which is one file because it is not in WAL mode.
    private func copy() throws -> (saved: [RecordWalk.Place: Int], lost: [Loss]) {
        let target = try DatabaseQueue(path: unfinished)
        try StoreTables.migrator.migrate(target)
        guard let pages = DatabasePages(path) else { throw CocoaError(.fileReadUnknown) }
        let schema = BTreePage(1, in: pages), names = CollectionNames(pages)
        var saved: [RecordWalk.Place: Int] = [:], lost: [Loss] = []
        // In one transaction, which is the fastest: an incomplete copy is never used.
        try target.write { db in
            var adoption = RecordAdoption(db)
            for layout in RecordLayout.all(names, schema, in: pages) {
                var walk = RecordWalk(pages, layout) { place, record in
                    let isNew = try adoption.add(record, collection: place.collection, namespace: place.namespace)
                    if isNew { saved[place, default: 0] += 1 }
                }
                try walk.run(schema)
                // Pages that only look like those of a table are no gap if the table may not exist.
                if schema == nil, walk.isEmpty { continue }
                for gap in walk.gaps {
                    for place in Set([gap.before, gap.after]) where place != nil || gap.before == gap.after {
                        if place.map({ names.counts[$0] == nil }) ?? names.counts.isEmpty {
                            lost.append(Loss(place: place, count: walk.recordsPerPage, isExact: false))
                        }
                    }
                }
            }
            try adoption.finish(after: Int64(names.lastChange), in: names.counts.keys)
        }
        for (place, count) in names.counts where count > saved[place] ?? 0 {
            lost.append(Loss(place: place, count: count - (saved[place] ?? 0), isExact: true))
        }
        try target.close()
        return (saved, lost)
    }

    /// A number of lost records.
    private struct Loss {
        /// The collection that they belonged to; `nil` if unknown.
        var place: RecordWalk.Place?
        var count: Int
        /// A Boolean value that indicates whether their number is known exactly.
        var isExact: Bool
    }

    /// Renames the damaged file and moves the complete copy into place.
    ///
    /// - Returns: The damaged file's new path, or `nil` if a killed process has already renamed it.
    private func putInPlace() throws -> String? {
        var aside: String?
        // A second link rather than a new name, so that the file and its log are never apart. A file with two links was
        // given its second by a process that was killed.
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

    /// Returns the text of the report.
    private static func message(
        _ reason: String, _ saved: [RecordWalk.Place: Int], lost: [Loss], aside: String?
    ) -> String {
        let total = saved.values.reduce(0, +), collections = "\(saved.count) collection\(saved.count == 1 ? "" : "s")"
        var about: [String: (count: Int, isExact: Bool)] = [:]
        for loss in lost {
            let place = loss.place.map { "\($0.namespace)/\($0.collection)" } ?? "unknown collections"
            let known = about[place]
            about[place] = ((known?.count ?? 0) + loss.count, known?.isExact ?? true && loss.isExact)
        }
        let losses = about.sorted { $0.key < $1.key }.map {
            "\($0.value.isExact ? "" : "at most about ")\($0.value.count) of \($0.key)"
        }
        let name = aside.map { URL(filePath: $0).lastPathComponent } ?? "store.sqlite.damaged-…"
        return
            "the store was damaged (\(reason)); \(total) record\(total == 1 ? "" : "s") in \(collections) were saved into a new file, "
            + (losses.isEmpty ? "none was lost" : "lost: \(losses.joined(separator: ", "))")
            + "; the damaged file is kept as \(name): restore what is missing from a backup, and delete it when it is no longer needed"
    }
}
#endif
