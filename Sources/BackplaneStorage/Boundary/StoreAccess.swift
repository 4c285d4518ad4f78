import Backplane

/// The store functions that a collection uses: those of the host or of a transaction.
protocol StoreAccess: Sendable {
    func write(_ batch: RecordBatch) async throws(BackplaneError) -> [Int64]
    func read(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage
    func count(_ selection: StoreSelection) async throws(BackplaneError) -> Int
}
