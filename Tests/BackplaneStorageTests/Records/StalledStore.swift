import Backplane
import BackplaneRecords
import BackplaneStorage

/// A store that reads nothing until it is cancelled.
final class StalledStore: RecordStore {
    /// A Boolean value that indicates whether a reading has begun.
    let hasBegun = Recorder(false)

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        hasBegun.value = true
        do { while true { try await Task.sleep(for: .seconds(3_600)) } } catch {
            throw BackplaneError(.callCancelled, "the reading was cancelled")
        }
    }

    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {}
    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        batch.changes.map { _ in 1 }
    }
    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int { 0 }
    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        ChangePage(changes: [], last: 0, hasMore: false, hasMissed: false)
    }
    func namespaces() async throws(BackplaneError) -> [String] { [] }
    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] { [] }
}
