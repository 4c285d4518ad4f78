import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneStorage
import BackplaneTerminal
import Glibc

/// The commands `backplane store …`, which show, save and restore the records of a store.
struct StoreCommand: Sendable {
    var choice: StoreChoice
    var json = false

    /// Prints the collections.
    func list() async -> Int32 {
        await with { store throws(BackplaneError) in
            let collections = try await store.list(sizes: true)
            guard !json else {
                Output.json(collections)
                return 0
            }
            Output.table(
                ["NAMESPACE", "COLLECTION", "RECORDS", "SIZE", "LAST CHANGE", "INDEXES"],
                collections.map { row in
                    [
                        row.namespace.printable, row.collection.printable, "\(row.records)",
                        row.bytes.map { Figure.bytes(Int($0)) } ?? "", "\(row.change)",
                        row.indexes.map { $0.name.printable + ($0.unique ? " (unique)" : "") }.joined(separator: ", "),
                    ]
                })
            return 0
        }
    }

    /// Prints a record's JSON.
    func get(_ namespace: String, _ collection: String, _ id: String) async -> Int32 {
        await with { store throws(BackplaneError) in
            let page = try await store.read(collection, in: namespace, id: id)
            if let record = page.records.first {
                Output.write(bytes: record.value + [0x0A], to: STDOUT_FILENO)
                return 0
            }
            let place = "\(namespace)/\(collection)/\(id)".printable
            guard page.damaged.isEmpty else {
                return Output.fail(
                    "\(place): the stored bytes of the record have changed; `backplane store check` reports details")
            }
            return Output.fail("\(place): there is no such record; `backplane store list` names the collections")
        }
    }

    /// Prints all records as JSON lines, or those of a namespace or a collection.
    func dump(_ namespace: String?, _ collection: String?) async -> Int32 {
        await with { store throws(BackplaneError) in
            let chosen = try await store.list().filter {
                (namespace == nil || $0.namespace == namespace) && (collection == nil || $0.collection == collection)
            }
            guard !chosen.isEmpty || namespace == nil else {
                return Output.fail(
                    "there is no collection \([namespace, collection].compactMap(\.self).joined(separator: "/").printable); `backplane store list` names them"
                )
            }
            let progress = CountingLine("dumped", of: chosen.map(\.records).reduce(0, +))
            defer { progress.clear() }
            var begun: StoreCollectionForm?
            let damaged = try await store.forEachPage(of: chosen, progress) { collection, page throws(BackplaneError) in
                var lines: [UInt8] = []
                if begun != collection {
                    begun = collection
                    let definition = CollectionDefinition(
                        collection.collection, indexes: collection.indexes.map(\.definition))
                    lines += try RecordLine.collection(namespace: collection.namespace, definition).bytes() + [0x0A]
                }
                for record in page.records {
                    let line = RecordLine.record(
                        namespace: collection.namespace, collection: collection.collection, record)
                    lines += try line.bytes() + [0x0A]
                }
                Output.write(bytes: lines, to: STDOUT_FILENO)
            }
            progress.clear()
            for place in damaged {
                Output.remark("backplane: \(place.printable): left out, because the stored bytes have changed")
            }
            return damaged.isEmpty ? 0 : 1
        }
    }

    /// Stores the records of a dump.
    ///
    /// - Parameters:
    ///   - path: The dump's path, or `-` for standard input.
    ///   - isOverwriting: Whether records with the same ids are replaced.
    func restore(_ path: String, overwriting isOverwriting: Bool) async -> Int32 {
        await with(isWriting: true) { store throws(BackplaneError) in
            var lines = try DumpReader(path), number = 0, batch = RestoredBatch(isOverwriting: isOverwriting)
            let progress = CountingLine("restored")
            defer { progress.clear() }
            while let line = try lines.next() {
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { continue }
                switch try Self.read(line, number, path) {
                case .collection(let namespace, let definition):
                    try await batch.write(to: store, progress)
                    try await store.add(definition, in: namespace)
                case .record(let namespace, let collection, let record):
                    if !batch.takes(record, in: namespace) { try await batch.write(to: store, progress) }
                    batch.add(record, to: collection, in: namespace, line: number)
                }
            }
            try await batch.write(to: store, progress)
            progress.clear()
            Output.line("restored \(progress.count) records")
            return 0
        }
    }

    private static func read(_ line: [UInt8], _ number: Int, _ path: String) throws(BackplaneError) -> RecordLine {
        do throws(BackplaneError) {
            return try RecordLine(line)
        } catch {
            let place = path == "-" ? "line \(number)" : "\(path): line \(number)"
            throw BackplaneError(error.code, error.message, at: "\(place)\(error.location.map { ": \($0)" } ?? "")")
        }
    }

    /// Reads the whole store, and prints its problems.
    func check() async -> Int32 {
        await with { store throws(BackplaneError) in
            let damage = try await store.findDamage()
            if json {
                Output.json(damage)
            } else if damage.isEmpty {
                Output.line("the store is sound")
            } else {
                for error in damage { Output.line(error.description.printable) }
                Output.remark(
                    "backplane: the readable records are saved when the store is next opened by a single process, unless the manifest's `store` refuses that"
                )
            }
            return damage.isEmpty ? 0 : 1
        }
    }

    /// Opens the store, runs an operation on it, and prints the operation's error.
    private func with(isWriting: Bool = false, _ body: (StoreHandle) async throws(BackplaneError) -> Int32) async
        -> Int32
    {
        do {
            return try await body(try choice.open(isWriting: isWriting, creates: isWriting))
        } catch let refusal as HostChoice.Refusal {
            return refusal.report()
        } catch {
            return Output.fail(error)
        }
    }
}
