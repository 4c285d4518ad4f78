import Backplane
import BackplaneRecords
import BackplaneStorage

extension OfferedServices {
    /// Writes a batch of the component, and logs it with the trace of the call for which it was made.
    func write(_ batch: RecordBatch, for trace: Trace?) async throws(BackplaneError) -> [Int64] {
        do throws(BackplaneError) {
            let numbers = try await store.write(batch, in: namespace)
            note(batch, trace, nil)
            return numbers
        } catch {
            note(batch, trace, error)
            throw error
        }
    }

    private func note(_ batch: RecordBatch, _ trace: Trace?, _ error: BackplaneError?) {
        guard log.isEnabled(.debug) else { return }
        var metadata = [
            "component": name, "changes": "\(batch.changes.count)",
            "collections": Set(batch.changes.map(\.collection)).sorted().joined(separator: ", "),
        ]
        metadata["error"] = error?.code.rawValue
        metadata["trace"] = trace?.id
        let message = error == nil ? "records written" : "records not written"
        log.write(LogRecord(level: .debug, source: "host", message: message, metadata: metadata))
    }
}

extension RecordChange {
    fileprivate var collection: String {
        switch self {
        case .save(let collection, _), .delete(let collection, _), .deleteAll(let collection): collection
        }
    }
}
