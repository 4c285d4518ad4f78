package import Backplane
package import CBackplane

extension [RecordChange] {
    /// Lends the changes for the duration of `body`.
    package func withC<Result>(_ body: (UnsafeBufferPointer<bp_store_change>) -> Result) -> Result {
        let lent = map(\.parts)
        return Texts(lent.flatMap { [[UInt8]($0.collection.utf8), [UInt8]($0.id.utf8), $0.value] }).withBytes { bytes in
            lent.enumerated().map { index, parts in
                bp_store_change(
                    size: UInt32(MemoryLayout<bp_store_change>.size), kind: parts.kind,
                    collection: bytes[3 * index], id: bytes[3 * index + 1], value: bytes[3 * index + 2])
            }.withUnsafeBufferPointer(body)
        }
    }

    /// Copies borrowed changes.
    ///
    /// - Throws: `call.invalid-input` for an unreasonable number of changes, or a change of unknown kind.
    package init(copying changes: UnsafePointer<bp_store_change>?, count: Int) throws(BackplaneError) {
        let lent: [bp_store_change]
        do throws(BackplaneError) {
            lent = try Descriptors.read(changes, count: count, of: "the changes", limit: Descriptors.dataLimit)
        } catch {
            throw BackplaneError(.callInvalidInput, error.message)
        }
        self = []
        for change in lent {
            let collection = change.collection.text
            switch Int(change.kind) {
            case Int(BP_STORE_SAVE):
                append(
                    .save(collection: collection, StoredRecord(id: change.id.text, value: change.value.array)))
            case Int(BP_STORE_DELETE): append(.delete(collection: collection, id: change.id.text))
            case Int(BP_STORE_DELETE_ALL): append(.deleteAll(collection: collection))
            default:
                throw BackplaneError(.callInvalidInput, "expected a change of kind 1, 2 or 3, found \(change.kind)")
            }
        }
    }
}

extension RecordChange {
    fileprivate var parts: (kind: UInt32, collection: String, id: String, value: [UInt8]) {
        switch self {
        case .save(let collection, let record): (UInt32(BP_STORE_SAVE), collection, record.id, record.value)
        case .delete(let collection, let id): (UInt32(BP_STORE_DELETE), collection, id, [])
        case .deleteAll(let collection): (UInt32(BP_STORE_DELETE_ALL), collection, "", [])
        }
    }
}
