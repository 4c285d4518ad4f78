import Backplane
import BackplaneStorage
import CBackplane

// Answers of the store, lent to a plugin's callback.

/// A plugin's callback for the end of a batch.
struct WrittenReply: Sendable {
    let done: bp_store_written
    /// The plugin's own context, which is passed back unchanged.
    let context: ForeignPointer

    func end(_ result: Result<[Int64], BackplaneError>) {
        switch result {
        case .success(let numbers): done(context.raw, Int32(BP_OK), numbers, numbers.count, .empty)
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, 0, $0) }
        }
    }
}

/// A plugin's callback for a page of records.
struct PageReply: Sendable {
    let done: bp_store_read
    /// The plugin's own context, which is passed back unchanged.
    let context: ForeignPointer

    func end(_ result: Result<RecordPage, BackplaneError>) {
        switch result {
        case .success(let page): page.withC { done(context.raw, Int32(BP_OK), $0, .empty) }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, $0) }
        }
    }
}

/// A plugin's callback for changes from a collection's log.
struct ChangesReply: Sendable {
    let done: bp_store_changed
    /// The plugin's own context, which is passed back unchanged.
    let context: ForeignPointer

    func end(_ result: Result<ChangePage, BackplaneError>) {
        switch result {
        case .success(let changes): changes.withC { done(context.raw, Int32(BP_OK), $0, .empty) }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, $0) }
        }
    }
}

extension RecordPage {
    /// Lends the page for the duration of `body`.
    fileprivate func withC(_ body: (UnsafePointer<bp_store_page>) -> Void) {
        records.withC { records in
            damaged.withC { damaged in
                (next?.bytes ?? []).withBytes { next in
                    var page = bp_store_page(
                        size: UInt32(MemoryLayout<bp_store_page>.size), reserved: 0, records: records.baseAddress,
                        record_count: records.count, damaged: damaged.baseAddress, damaged_count: damaged.count,
                        next: next, change: change, component_change: namespaceChange)
                    body(&page)
                }
            }
        }
    }
}

extension [StoredRecord] {
    fileprivate func withC(_ body: (UnsafeBufferPointer<bp_store_record>) -> Void) {
        Texts(flatMap { [[UInt8]($0.id.utf8), $0.value] }).withBytes { bytes in
            enumerated().map { index, record in
                bp_store_record(
                    size: UInt32(MemoryLayout<bp_store_record>.size), reserved: 0, id: bytes[2 * index],
                    value: bytes[2 * index + 1], version: record.version)
            }.withUnsafeBufferPointer(body)
        }
    }
}

extension ChangePage {
    fileprivate func withC(_ body: (UnsafePointer<bp_store_changes>) -> Void) {
        Texts(changes.flatMap { [Array($0.id.utf8), $0.record?.value ?? []] }).withBytes { bytes in
            changes.enumerated().map { index, change in
                bp_store_logged(
                    size: UInt32(MemoryLayout<bp_store_logged>.size), kind: UInt32(change.kind.rawValue),
                    number: change.number, id: bytes[2 * index], value: bytes[2 * index + 1])
            }.withUnsafeBufferPointer { lent in
                let flags = (hasMore ? BP_CHANGES_MORE : 0) | (hasMissed ? BP_CHANGES_MISSED : 0)
                var page = bp_store_changes(
                    size: UInt32(MemoryLayout<bp_store_changes>.size), flags: UInt32(flags), changes: lent.baseAddress,
                    change_count: lent.count, last: last)
                body(&page)
            }
        }
    }
}
