import Backplane
import BackplaneStorage

/// The records of a dump that are stored together.
struct RestoredBatch {
    private let isOverwriting: Bool
    private var records: [(collection: String, record: StoredRecord)] = []
    private var namespace = ""
    /// The size of the values.
    private var size = 0
    /// The line of the batch's last record in the dump, and the line of the last stored record.
    private var last = 0, stored = 0

    init(isOverwriting: Bool) { self.isOverwriting = isOverwriting }

    /// Returns whether there is room for a record.
    func takes(_ record: StoredRecord, in namespace: String) -> Bool {
        records.isEmpty
            || namespace == self.namespace && records.count < 500 && size + record.value.count <= 8 << 20
    }

    mutating func add(_ record: StoredRecord, to collection: String, in namespace: String, line: Int) {
        records.append((collection, record))
        (self.namespace, last) = (namespace, line)
        size += record.value.count
    }

    /// Stores the records, and begins another batch.
    ///
    /// - Throws: The store's error, with the number of records that were stored before it.
    mutating func write(to store: StoreHandle, _ progress: CountingLine) async throws(BackplaneError) {
        guard !records.isEmpty else { return }
        do throws(BackplaneError) {
            try await store.restore(records, overwriting: isOverwriting, in: namespace)
        } catch {
            var message = error.message
            if error.code == .storeConflict {
                message = "a record with this id already exists; --overwrite replaces such records"
            }
            message += " (\(progress.count) records were restored before, up to line \(stored))"
            throw BackplaneError(error.code, message, at: error.location, causes: error.causes)
        }
        progress.add(records.count)
        stored = last
        (records, size) = ([], 0)
    }
}
