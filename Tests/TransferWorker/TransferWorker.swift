import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneRecords
import BackplaneSQLite
import BackplaneTransfers
import Glibc

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
