package import Backplane

/// The JSON of a stored record, which begins with the type's schema unless the schema is 1.
package enum StoredForm {
    /// The key of the schema in the JSON.
    static let schemaKey = "@schema"
    private static let beginning = Array(#"{"@schema":"#.utf8)
    /// Any JSON object.
    private struct Readable: Decodable {}

    /// Encodes a record.
    ///
    /// - Throws: `call.invalid-input` if it cannot be encoded as a JSON object.
    package static func encode<R: Record>(_ record: R) throws(BackplaneError) -> [UInt8] {
        let json = try JSON.encode(record, failing: .callInvalidInput)
        guard json.first == UInt8(ascii: "{") else {
            throw BackplaneError(
                .callInvalidInput,
                "a record must be encoded as a JSON object, but this type is encoded as another value",
                at: R.collection)
        }
        // Foundation encodes a `Decimal` that is not a number as NaN, and no longer decodes the record.
        let hasNaN = json.indices.dropLast(2).contains {
            json[$0] == 0x4E && json[$0 + 1] == 0x61 && json[$0 + 2] == 0x4E
        }
        if hasNaN, (try? JSON.decode(Readable.self, json, failing: .callInvalidInput)) == nil {
            throw BackplaneError(
                .callInvalidInput, "the record has a number that is NaN, which JSON cannot express; use an optional",
                at: "\(R.collection)/\(record.id)")
        }
        guard R.schema > 1 else { return json }
        let isEmpty = json.count == 2
        return beginning + Array("\(R.schema)".utf8) + (isEmpty ? [] : [UInt8(ascii: ",")]) + json.dropFirst()
    }

    /// Decodes a record, or migrates it from an older form.
    ///
    /// - Throws: `store.undecodable`, with the location of the record.
    package static func decode<R: Record>(_: R.Type, _ stored: StoredRecord) throws(BackplaneError) -> R {
        let schema = R.schema > 1 ? schema(of: stored.value) : 1
        do throws(BackplaneError) {
            guard schema < R.schema else { return try JSON.decode(R.self, stored.value, failing: .storeUndecodable) }
            return try migrated(OldRecord(id: stored.id, schema: schema, json: stored.value))
        } catch {
            var message = error.message
            let written = R.schema > 1 ? schema : self.schema(of: stored.value)
            if written > R.schema {
                message += "; it was stored with schema \(written) of the type, and this is schema \(R.schema)"
            }
            throw BackplaneError(
                error.code, message, at: "\(R.collection)/\(stored.id)\(error.location ?? "")", causes: error.causes)
        }
    }

    private static func migrated<R: Record>(_ old: OldRecord) throws(BackplaneError) -> R {
        let new: R
        do {
            new = try R.migrated(from: old)
        } catch {
            let reason = BackplaneError(thrown: error)
            throw BackplaneError(
                .storeUndecodable, "the migration from schema \(old.schema) to \(R.schema) failed: \(reason.message)",
                at: reason.location, causes: [reason])
        }
        guard new.id.utf8.elementsEqual(old.id.utf8) else {
            throw BackplaneError(
                .storeUndecodable,
                "the migration from schema \(old.schema) to \(R.schema) returned a record with another id, \(new.id.debugDescription); a record keeps its id"
            )
        }
        return new
    }

    /// Returns the schema with which a record was stored.
    package static func schema(of json: [UInt8]) -> Int {
        if json.starts(with: beginning) {
            let digits = json.dropFirst(beginning.count).prefix { (0x30...0x39).contains($0) }
            return Int(String(decoding: digits, as: UTF8.self)) ?? 1
        }
        struct Marker: Decodable {
            var schema: Int?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: TextKey.self)
                schema = try container.decodeIfPresent(Int.self, forKey: TextKey(StoredForm.schemaKey))
            }
        }
        let marker = try? JSON.decode(Marker.self, json, failing: .storeUndecodable)
        return marker?.schema ?? 1
    }
}

/// The preparation of a collection for records of a type: its indexes, and the migration of older records.
///
/// Records of an older schema are found through an index over the schema with which each record was stored. If the
/// process is killed, migrated records are therefore not migrated again, and the remaining records are found at the
/// next start.
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
