import Backplane
import BackplaneExchange
import BackplaneNetwork
import Dispatch

/// The means that transfers are carried out with.
struct TransferMeans: Sendable {
    /// The way of a transfer's exchanges.
    var pipeline: @Sendable (Transfer) throws(BackplaneError) -> HTTPPipeline
    var digest: (any ContentDigest)?
    var options: TransferOptions
    var retries: Retries
    /// The threads for what waits for a disk.
    var disk = DispatchQueue(label: "bp-transfers", attributes: .concurrent)

    /// Does something that waits for a disk, on a thread of its own.
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

/// News of a transfer that runs.
enum TransferNews: Sendable {
    /// The number of bytes, and that of all if it is known.
    case bytes(Int64, of: Int64?)
    /// The number of bytes that the disk has.
    case synced(Int64)
    case restarted(RestartReason)
}
