import Backplane
import BackplaneExchange
import BackplaneNetwork
import Dispatch

/// The dependencies of transfers: network, disk and clock.
struct TransferMeans: Sendable {
    /// The pipeline of a transfer's exchanges.
    var pipeline: @Sendable (Transfer) throws(BackplaneError) -> HTTPPipeline
    var options: TransferOptions
    var retries: Retries
    /// The queue for work that waits for a disk.
    var disk = DispatchQueue(label: "bp-transfers", attributes: .concurrent)

    /// Runs a function that waits for a disk on a separate thread.
    func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable () throws(BackplaneError) -> Value
    ) async throws(BackplaneError) -> Value {
        let result: Result<Value, BackplaneError> = await withCheckedContinuation { continuation in
            disk.async {
                do throws(BackplaneError) {
                    continuation.resume(returning: .success(try work()))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        return try result.get()
    }
}

/// News from a running transfer.
enum TransferNews: Sendable {
    /// The number of bytes, and the total, if known.
    case bytes(Int64, of: Int64?)
    /// The number of bytes on the disk.
    case synced(Int64)
    case restarted(RestartReason)
}
