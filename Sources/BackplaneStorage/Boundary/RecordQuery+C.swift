package import Backplane
package import CBackplane

extension RecordQuery {
    /// Lends the query for the duration of `body`.
    package func withC<Result>(_ body: (UnsafePointer<bp_store_query>) -> Result) -> Result {
        collection.withBytes { collection in
            Texts((ids ?? []).map { Array($0.utf8) }).withBytes { texts in
                texts.withUnsafeBufferPointer { texts in
                    // An empty selection differs from none: its array exists and is empty.
                    var none = bp_bytes.empty
                    return withUnsafePointer(to: &none) { none in
                        var query = bp_store_query(
                            size: UInt32(MemoryLayout<bp_store_query>.size), reserved: 0, collection: collection,
                            ids: ids == nil ? nil : texts.baseAddress ?? none, id_count: texts.count,
                            offset: UInt64(max(0, offset)), limit: UInt64(max(0, limit)))
                        return body(&query)
                    }
                }
            }
        }
    }

    /// Copies a borrowed query.
    ///
    /// - Throws: `call.invalid-input` for an unreasonable number of ids.
    package init(copying query: UnsafePointer<bp_store_query>) throws(BackplaneError) {
        let query: bp_store_query = read(query)
        guard (0...Descriptors.dataLimit).contains(query.id_count) else {
            throw BackplaneError(
                .callInvalidInput,
                "expected at most \(Descriptors.dataLimit) ids, found a count of \(UInt(bitPattern: query.id_count))")
        }
        self.init(
            collection: query.collection.text,
            ids: query.ids.map { UnsafeBufferPointer(start: $0, count: query.id_count).map(\.text) },
            offset: Int(clamping: query.offset), limit: Int(clamping: query.limit))
    }
}

extension RecordPage {
    /// Lends the records for the duration of `body`.
    package func withC<Result>(of collection: String, _ body: (UnsafeBufferPointer<bp_record>) -> Result) -> Result {
        collection.withBytes { collection in
            Texts(records.flatMap { [Array($0.id.utf8), $0.value] }).withBytes { bytes in
                records.indices.map { index in
                    bp_record(
                        size: UInt32(MemoryLayout<bp_record>.size), reserved: 0, collection: collection,
                        id: bytes[2 * index], value: bytes[2 * index + 1])
                }.withUnsafeBufferPointer(body)
            }
        }
    }
}

extension StoredRecord {
    /// Copies borrowed records.
    ///
    /// - Throws: `store.unusable` for an invalid array.
    package static func copy(_ records: UnsafePointer<bp_record>?, count: Int) throws(BackplaneError) -> [StoredRecord]
    {
        do throws(BackplaneError) {
            let lent = try Descriptors.read(
                records, count: count, of: "the host's records", limit: Descriptors.dataLimit)
            return lent.map { StoredRecord(id: $0.id.text, value: $0.value.array) }
        } catch {
            throw BackplaneError(.storeUnusable, error.message)
        }
    }
}
