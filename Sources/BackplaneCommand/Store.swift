import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneStorage
import BackplaneTools
import Glibc

extension BackplaneTool {
    struct Store: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List, read, save, restore and check the records of a host's store.",
            discussion: """
                Works on a manifest's store: directly on the file in its data folder or, if a running host has the \
                file open, through that host. A file that another process has open is never written to.

                EXAMPLES
                  backplane store list
                  backplane store get BookStore loans 7
                  backplane store dump > books.jsonl
                  backplane store restore books.jsonl --manifest manifests/bookshelf.json
                  backplane store check --json
                  backplane store migrate --dry-run
                """,
            subcommands: [List.self, Get.self, Dump.self, Restore.self, Check.self, Migrate.self])
    }
}

extension BackplaneTool.Store {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
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
                Output.table(
                    ["NAMESPACE", "COLLECTION", "RECORDS", "SIZE", "LAST CHANGE", "INDEXES"],
                    collections.map { row in
                        [
                            row.namespace.printable, row.collection.printable, "\(row.records)",
                            row.bytes.map { Figure.bytes(Int($0)) } ?? "", "\(row.change)",
                            row.indexes.map { $0.name.printable + ($0.isUnique ? " (unique)" : "") }.joined(
                                separator: ", "),
                        ]
                    })
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print one record as JSON.")

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
                guard page.damaged.isEmpty else {
                    return Output.fail(
                        "\(place): the stored bytes of the record have changed; `backplane store check` reports details"
                    )
                }
                return Output.fail("\(place): there is no such record; `backplane store list` names the collections")
            }
            throw ExitCode(code)
        }
    }

    struct Dump: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print records as JSON lines, which `restore` reads.",
            discussion: """
                A line with the indexes of each collection comes before a line for each of its records. Each page of \
                500 records is a consistent snapshot. Records whose stored bytes have changed are omitted and named \
                on standard error; the exit code is then 1.
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
                var begun: String?
                let damaged = try await store.forEachPage(of: chosen, progress) {
                    collection, page throws(BackplaneError) in
                    var lines: [UInt8] = []
                    if begun != collection.place {
                        begun = collection.place
                        let definition = CollectionDefinition(
                            collection.collection, indexes: collection.indexes)
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
            throw ExitCode(code)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store the records of a dump.",
            discussion: """
                The indexes of the dump are added to those of the collections. Records are stored in batches of up \
                to 500, each atomically; an error ends the command and names the line that it reached.
                """)

        @Argument(help: "The dump, or - for standard input.") var dump: String
        @Flag(help: "Replace records with the same ids instead of reporting an error.") var overwrite = false
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            let code = await store.use(isWriting: true) { store throws(BackplaneError) in
                var lines = try DumpReader(dump), number = 0, batch = RestoredBatch(isOverwriting: overwrite)
                let progress = CountingLine("restored")
                defer { progress.clear() }
                while let line = try lines.next() {
                    number += 1
                    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { continue }
                    switch try read(line, number) {
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
            throw ExitCode(code)
        }

        private func read(_ line: [UInt8], _ number: Int) throws(BackplaneError) -> RecordLine {
            do throws(BackplaneError) {
                return try RecordLine(line)
            } catch {
                let place = dump == "-" ? "line \(number)" : "\(dump): line \(number)"
                throw BackplaneError(error.code, error.message, at: "\(place)\(error.location.map { ": \($0)" } ?? "")")
            }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
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
                        "backplane: the readable records are saved when the store is next opened by a single process, unless the manifest's `store` refuses that"
                    )
                }
                return damage.isEmpty ? 0 : 1
            }
            throw ExitCode(code)
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upgrade the store's file to the current format, and count the records of each schema.",
            discussion: """
                A host does the same when it opens the store. Records with an older schema are migrated by their \
                component when it first uses the collection.
                """)

        @Flag(help: "Print what would be done, and change nothing.") var dryRun = false
        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the result as JSON.") var json = false

        func run() async throws {
            do {
                var report = Report()
                if store.socket == nil {
                    let format = try Engines.pendingMigrations(in: try store.folder())
                    (report.file, report.records) = (format.migrations, format.records)
                }
                // A file of an older format is only opened if it is to be migrated.
                if report.file.isEmpty || !dryRun { report.schemas = try await schemas() }
                print(report)
            } catch let refusal as HostChoice.Refusal {
                throw ExitCode(refusal.report())
            } catch {
                throw ExitCode(Output.fail(error))
            }
        }

        /// The result of a migration, or of a dry run.
        private struct Report: Encodable {
            /// The migrations of the file.
            var file: [String] = []
            /// The number of records that the migrations affect.
            var records = 0
            var schemas: [Schemas] = []
        }
        /// The number of records of a collection that were stored with a schema.
        private struct Schemas: Encodable {
            var namespace: String
            var collection: String
            var schema: Int
            var records: Int
        }

        private func schemas() async throws -> [Schemas] {
            let handle = try store.open(isWriting: !dryRun), collections = try await handle.list()
            let progress = CountingLine("read", of: collections.map(\.records).reduce(0, +))
            defer { progress.clear() }
            var counts: [[Int: Int]] = [], last: String?, forms: [StoreCollection] = []
            _ = try await handle.forEachPage(of: collections, progress) { collection, page in
                if collection.place != last {
                    last = collection.place
                    forms.append(collection)
                    counts.append([:])
                }
                for record in page.records {
                    counts[counts.count - 1][StoredForm.schema(of: record.value), default: 0] += 1
                }
            }
            return zip(forms, counts).flatMap { form, counts in
                counts.sorted { $0.key < $1.key }.map {
                    Schemas(namespace: form.namespace, collection: form.collection, schema: $0.key, records: $0.value)
                }
            }
        }

        private func print(_ report: Report) {
            guard !json else { return Output.json(report) }
            if report.file.isEmpty {
                Output.line("the file has the current format")
            } else {
                let names = report.file.map { "`\($0)`" }.joined(separator: ", ")
                Output.line(
                    "the file \(dryRun ? "would be" : "was") migrated by \(names), with "
                        + "\(counted(report.records, "record"))"
                )
            }
            guard !report.schemas.isEmpty else { return }
            Output.table(
                ["NAMESPACE", "COLLECTION", "SCHEMA", "RECORDS"],
                report.schemas.map {
                    [$0.namespace.printable, $0.collection.printable, "\($0.schema)", "\($0.records)"]
                })
            Output.line("records of an older schema are migrated when their component first uses the collection")
        }
    }
}
