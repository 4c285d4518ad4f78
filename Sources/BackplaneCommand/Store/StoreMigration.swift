import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneStorage
import BackplaneTerminal

/// The command `backplane store migrate`: upgrades a store's file to the current format, and lists its schemas.
struct StoreMigration: Sendable {
    var choice: StoreChoice
    var isDryRun: Bool
    var json = false

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

    func run() async -> Int32 {
        do {
            var report = Report()
            if choice.socket == nil {
                let format = try Engines.pendingMigrations(in: try choice.folder())
                (report.file, report.records) = (format.migrations, format.records)
            }
            // A file of an older format is only opened if it is to be migrated.
            if report.file.isEmpty || !isDryRun { report.schemas = try await schemas() }
            print(report)
            return 0
        } catch let refusal as HostChoice.Refusal {
            return refusal.report()
        } catch {
            return Output.fail(error)
        }
    }

    private func schemas() async throws -> [Schemas] {
        let store = try choice.open(isWriting: !isDryRun), collections = try await store.list()
        let progress = CountingLine("read", of: collections.map(\.records).reduce(0, +))
        defer { progress.clear() }
        var counts: [[Int: Int]] = [], last: StoreCollectionForm?, forms: [StoreCollectionForm] = []
        _ = try await store.forEachPage(of: collections, progress) { collection, page in
            if collection != last {
                last = collection
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
                "the file \(isDryRun ? "would be" : "was") migrated by \(names), with "
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
