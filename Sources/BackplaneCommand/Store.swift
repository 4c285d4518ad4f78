import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneDocuments
import BackplaneStorage
import BackplaneTools
import FoundationEssentials
import Glibc

extension BackplaneTool {
    struct Store: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "store",
            abstract: "List, read, save, restore and check the records of a host's store.",
            discussion: """
                Works on a manifest's store: directly on the file in its data folder or, if a running host has the \
                file open, through that host. A file that another process has open is only read.

                EXAMPLES
                  backplane store list
                  backplane store get BookStore loans 7
                  backplane store dump > books.jsonl
                  backplane store restore books.jsonl --manifest manifests/bookshelf.json
                  backplane store check --json
                  backplane store schemas
                """,
            subcommands: [List.self, Get.self, Dump.self, Restore.self, Check.self, Schemas.self])
    }
}

extension BackplaneTool.Store {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the collections with their record counts and indexes.")

        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            let code = await store.use { store throws(BackplaneError) in
                let collections = try await store.list(sizes: true)
                guard !json else {
                    Output.json(collections)
                    return 0
                }
                Output.table(Self.table(collections))
                return 0
            }
            throw ExitCode(code)
        }

        static func table(_ collections: [StoreCollection]) -> Table {
            Table(
                ["NAMESPACE", "COLLECTION", "RECORDS", "SIZE", "LAST CHANGE", "INDEXES"],
                collections.map { row in
                    [
                        Span(row.namespace.printable), Span(row.collection.printable), Span("\(row.records)"),
                        Span(row.bytes.map { Figure.bytes(Int($0)) } ?? ""),
                        Span(row.changed.map { Date(timeIntervalSince1970: Double($0)).formatted(.iso8601) } ?? ""),
                        Span(
                            row.indexes.map { $0.name.printable + ($0.isUnique ? " (unique)" : "") }
                                .joined(separator: ", ")),
                    ]
                })
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "get", abstract: "Print one record as JSON.")

        @Argument(help: "The namespace of the data access controller (by default, its class name).")
        var namespace: String
        @Argument(help: "The collection.") var collection: String
        @Argument(help: "The id of the record.") var id: String
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            let code = await store.use { store throws(BackplaneError) in
                let page = try await store.read(collection, in: namespace, id: id)
                if let record = page.records.first {
                    Output.write(bytes: record.value + [0x0A], to: STDOUT_FILENO)
                    return 0
                }
                let place = "\(namespace)/\(collection)/\(id)".printable
                let advice = try await advice(in: store)
                return Output.fail("\(place): there is no such record; \(advice)")
            }
            throw ExitCode(code)
        }

        /// Returns advice for the first name that does not exist: similar names, or the command that lists all names.
        private func advice(in store: StoreHandle) async throws(BackplaneError) -> String {
            let collections = try await store.list(), own = collections.filter { $0.namespace == namespace }
            let names: [String], word: String
            if own.isEmpty {
                (word, names) = (namespace, collections.map(\.namespace))
            } else if !own.contains(where: { $0.collection == collection }) {
                (word, names) = (collection, own.map(\.collection))
            } else {
                // The first page: a collection can have any number of records.
                (word, names) = (id, try await store.read(collection, in: namespace).records.map(\.id))
            }
            return NameSuggestions(for: word, among: Array(Set(names)).sorted()).question?.printable
                ?? "`backplane store list` names the collections"
        }
    }

    struct Dump: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dump",
            abstract: "Print records as JSON lines, which `restore` reads.",
            discussion: """
                Each collection begins with a line for its indexes, followed by a line for each record. Each page of \
                500 records is a consistent snapshot. If a collection is damaged, only the pages before the damage are \
                printed, and the exit code is 1.
                """)

        @Argument(help: "The namespace (default: all).") var namespace: String?
        @Argument(help: "The collection (default: all of the namespace).") var collection: String?
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            let code = await store.use { store throws(BackplaneError) in
                let chosen = try await store.list().filter {
                    (namespace == nil || $0.namespace == namespace)
                        && (collection == nil || $0.collection == collection)
                }
                guard !chosen.isEmpty || namespace == nil else {
                    return Output.fail(
                        "there is no collection \([namespace, collection].compactMap(\.self).joined(separator: "/").printable); `backplane store list` names them"
                    )
                }
                let progress = CountingLine("dumped", of: chosen.map(\.records).reduce(0, +))
                defer { progress.clear() }
                var status: Int32 = 0
                for collection in chosen {
                    do throws(BackplaneError) {
                        try await dump(collection, of: store, progress)
                    } catch {
                        // The other collections may be readable.
                        guard error.code == .storeDamaged else { throw error }
                        progress.clear()
                        status = Output.fail(
                            BackplaneError(
                                error.code, "the dump of \(collection.place) ends early: \(error.message)",
                                at: error.location))
                    }
                }
                return status
            }
            throw ExitCode(code)
        }

        private func dump(_ collection: StoreCollection, of store: StoreHandle, _ progress: CountingLine)
            async throws(BackplaneError)
        {
            let definition = CollectionDefinition(collection.collection, indexes: collection.indexes)
            var lines = try RecordLine.collection(namespace: collection.namespace, definition).bytes() + [0x0A]
            try await store.forEachPage(of: [collection], progress) { _, page throws(BackplaneError) in
                for record in page.records {
                    let line = RecordLine.record(
                        namespace: collection.namespace, collection: collection.collection, record)
                    lines += try line.bytes() + [0x0A]
                }
                Output.write(bytes: lines, to: STDOUT_FILENO)
                lines = []
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Store the records of a dump.",
            discussion: """
                The whole dump is checked before anything is stored. A store is created if there is none. The indexes \
                of the dump are added to the collections. Records are stored in batches of up to 500, each \
                atomically; an error ends the command and names the line that it reached.
                """)

        @Argument(help: "The dump, or - for standard input.") var dump: String
        @Flag(help: "Replace records with the same ids instead of reporting an error.") var overwrite = false
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            let lines: DumpReader
            do throws(BackplaneError) {
                lines = try DumpReader(dump)
                // Before a store is created or changed.
                while try next(of: lines) != nil {}
                try lines.rewind()
            } catch {
                throw ExitCode(Output.fail(error))
            }
            let code = await store.use(isWriting: true) { store throws(BackplaneError) in
                var batch = RestoredBatch(isOverwriting: overwrite)
                let progress = CountingLine("restored")
                defer { progress.clear() }
                while let line = try next(of: lines) {
                    switch line {
                    case .collection(let namespace, let definition):
                        try await batch.write(to: store, progress)
                        try await store.add(definition, in: namespace)
                    case .record(let namespace, let collection, let record):
                        if !batch.takes(record, in: namespace) { try await batch.write(to: store, progress) }
                        batch.add(record, to: collection, in: namespace, line: lines.number)
                    }
                }
                try await batch.write(to: store, progress)
                progress.clear()
                Output.line("restored \(progress.count) records")
                return 0
            }
            throw ExitCode(code)
        }

        /// Returns the next line that is not blank.
        private func next(of lines: DumpReader) throws(BackplaneError) -> RecordLine? {
            while let line = try lines.next() {
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { continue }
                do throws(BackplaneError) {
                    return try RecordLine(line)
                } catch {
                    let place = dump == "-" ? "line \(lines.number)" : "\(dump): line \(lines.number)"
                    throw BackplaneError(
                        error.code, error.message, at: "\(place)\(error.location.map { ": \($0)" } ?? "")")
                }
            }
            return nil
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the whole store and list every problem, without changing anything.")

        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            let code = await store.use { store throws(BackplaneError) in
                let damage = try await store.findDamage()
                if json {
                    Output.json(damage)
                } else if damage.isEmpty {
                    Output.line("the store is sound")
                } else {
                    for error in damage { Output.line(error.description.printable) }
                    Output.remark(
                        "backplane: `backplane store dump` saves what can be read; once a host has found the damage, the file is moved aside when it is next opened, unless the manifest's `store` refuses that"
                    )
                }
                return damage.isEmpty ? 0 : 1
            }
            throw ExitCode(code)
        }
    }

    struct Schemas: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schemas",
            abstract: "Count the records of each schema.",
            discussion: """
                Records with an older schema are migrated by their component when it first uses the collection.
                """)

        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the result as JSON.") var json = false

        /// The number of records of a collection that were stored with a schema.
        private struct Schema: Encodable {
            var namespace: String
            var collection: String
            var schema: Int
            var records: Int
        }

        func run() async throws {
            let code = await store.use { store throws(BackplaneError) in
                let collections = try await store.list()
                let progress = CountingLine("read", of: collections.map(\.records).reduce(0, +))
                defer { progress.clear() }
                var schemas: [Schema] = []
                for collection in collections {
                    var counts: [Int: Int] = [:]
                    try await store.forEachPage(of: [collection], progress) { _, page throws(BackplaneError) in
                        for record in page.records { counts[StoredForm.schema(of: record.value), default: 0] += 1 }
                    }
                    schemas += counts.sorted { $0.key < $1.key }.map {
                        Schema(
                            namespace: collection.namespace, collection: collection.collection, schema: $0.key,
                            records: $0.value)
                    }
                }
                progress.clear()
                guard !json else {
                    Output.json(schemas)
                    return 0
                }
                Output.table(
                    ["NAMESPACE", "COLLECTION", "SCHEMA", "RECORDS"],
                    schemas.map { [$0.namespace.printable, $0.collection.printable, "\($0.schema)", "\($0.records)"] })
                return 0
            }
            throw ExitCode(code)
        }
    }
}
