package import Backplane
package import CBackplane

extension OffsetQuery {
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

extension OffsetPage {
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
