package import Backplane

/// The JSON of a record in the store, which begins with the type's schema unless the schema is 1.
package enum StoredForm {
    /// The key of the schema in the JSON.
    static let schemaKey = "@schema"
    private static let beginning = Array(#"{"@schema":"#.utf8)

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
