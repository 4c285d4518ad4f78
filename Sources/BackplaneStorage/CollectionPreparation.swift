import Backplane

/// The preparation of a collection for records of a type: its indexes, and the migration of older records.
///
/// Records of an older schema are found through an index over the schema with which each record was stored. Records
/// migrated before a process was killed are therefore not migrated again, and the remaining ones are found at the next
/// start.
struct CollectionPreparation<R: Record> {
    private let exchange: StoreExchange
    private let log: Log
    private var migrated = 0, failed = 0
    /// The number of records that others have changed while they were migrated.
    private var overtaken = 0

    init(_ exchange: StoreExchange, _ log: Log) { (self.exchange, self.log) = (exchange, log) }

    func run() async -> Result<Void, BackplaneError> {
        do throws(BackplaneError) {
            do throws(BackplaneError) {
                try await exchange.define(R.definition)
            } catch {
                guard error.code == .storeDuplicate else { throw error }
                log.error(
                    "an index was omitted, because its values are not unique",
                    metadata: ["collection": R.collection, "error": error.description])
            }
            if R.schema > 1 {
                var migration = self
                try await migration.migrate()
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private mutating func migrate() async throws(BackplaneError) {
        // An older generation may continue to store records, which are then migrated when they are read.
        for _ in 0..<10 {
            overtaken = 0
            failed = 0
            // Records of the first schema have no mark.
            try await migrate(.init(equal: [Array("null".utf8)]))
            try await migrate(.init(to: Array("\(R.schema)".utf8)))
            if overtaken == 0 { break }
        }
        guard migrated + failed > 0 else { return }
        log.log(
            failed > 0 ? .error : .notice, "records were migrated",
            metadata: [
                "collection": R.collection, "schema": "\(R.schema)", "migrated": "\(migrated)", "failed": "\(failed)",
            ])
    }

    private mutating func migrate(_ range: StoreSelection.Range) async throws(BackplaneError) {
        var selection = StoreSelection(collection: R.collection, range: range, limit: 500)
        selection.range?.index = StoredForm.schemaKey
        repeat {
            let page = try await exchange.read(selection)
            var changes: [RecordChange] = [], conditions: [RecordCondition] = []
            for old in page.records {
                do throws(BackplaneError) {
                    let new = try StoredForm.decode(R.self, old)
                    changes.append(
                        .save(
                            collection: R.collection,
                            StoredRecord(id: old.id, value: try StoredForm.encode(new))))
                    conditions.append(.version(collection: R.collection, id: old.id, old.version))
                } catch {
                    report(error)
                }
            }
            try await write(changes, if: conditions)
            selection.after = page.next
        } while selection.after != nil
    }

    private mutating func write(_ changes: [RecordChange], if conditions: [RecordCondition])
        async throws(BackplaneError)
    {
        guard !changes.isEmpty else { return }
        do throws(BackplaneError) {
            _ = try await exchange.write(RecordBatch(changes, if: conditions))
            migrated += changes.count
        } catch {
            guard error.code == .storeConflict || error.code == .storeDuplicate else { throw error }
            guard changes.count == 1 else {
                for (change, condition) in zip(changes, conditions) { try await write([change], if: [condition]) }
                return
            }
            if error.code == .storeConflict { overtaken += 1 } else { report(error) }
        }
    }

    private mutating func report(_ error: BackplaneError) {
        failed += 1
        guard failed <= 100 else { return }
        log.error("a record was not migrated, and is kept unchanged", metadata: ["error": error.description])
    }
}
