import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTransfers
import Glibc
import SyncCounter

/// A process with a pool of transfers, for tests that kill it.
///
///     transfer-worker begin FOLDER URL FILE    begins the download `whale`, and prints its states until it ends
///     transfer-worker go FOLDER                goes on with it, and prints its states until it ends
///     transfer-worker resume FOLDER            resumes it, if it was paused, and prints its states until it ends
///
/// The number of bytes at which it is to be paused can follow.
///
/// A state in the store that claims bytes that the disk was not waited for is printed as an error.
@main
struct TransferWorker {
    static func main() async throws {
        alarm(300)  // whoever started it may be gone
        let arguments = CommandLine.arguments
        let store = try SQLiteRecordStore(folder: arguments[2], durability: .normal) { say("error \($0)\n") }
        let pool = try await TransferPool(
            HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)]), store: CheckedStore(store)
        ) { say("error \($0)\n") }
        switch arguments[1] {
        case "begin":
            try await pool.begin(Transfer("whale", download: arguments[3], to: arguments[4]))
        case "resume": try await pool.resume("whale")
        default: break
        }
        var place = arguments.last.flatMap { Int64($0) }
        for try await state in pool.states(of: "whale") {
            say("\(state.phase) \(state.bytes)\n")
            guard let pause = place, state.bytes >= pause, !state.phase.isFinal else { continue }
            place = nil
            try await pool.pause("whale")
        }
        await pool.stop()
    }

    /// Writes a line in one piece, so that a kill leaves no half of it.
    static func say(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(1, $0.baseAddress, $0.count) }
    }
}

/// A store that compares what the states of downloads claim with what the disk was waited for.
struct CheckedStore: RecordStore {
    let store: any RecordStore
    /// The bytes that the store claimed before this process began.
    let before: Int64

    init(_ store: any RecordStore) async throws(BackplaneError) {
        self.store = store
        let query = RecordQuery(collection: "transfers", ids: ["whale"])
        before = try await store.read(query, in: "@transfers").records.first.map(Self.claim) ?? 0
    }

    private static func claim(_ record: StoredRecord) -> Int64 {
        String(decoding: record.value, as: UTF8.self).firstMatch(of: /"bytes":(\d+)/).flatMap { Int64($0.1) } ?? 0
    }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        let synced = max(before, synchronized_part())
        for case .save("transfers", let record) in batch.changes {
            let claimed = Self.claim(record)
            if claimed > synced {
                TransferWorker.say("error: \(claimed) bytes are claimed, of which the disk has \(synced)\n")
            }
        }
        return try await store.write(batch, in: namespace)
    }

    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await store.define(collection, in: namespace)
    }

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await store.read(query, in: namespace)
    }

    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await store.count(query, in: namespace)
    }

    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await store.changes(of: collection, since: number, limit: limit, in: namespace)
    }

    func namespaces() async throws(BackplaneError) -> [String] { try await store.namespaces() }

    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await store.collections(in: namespace)
    }
}
