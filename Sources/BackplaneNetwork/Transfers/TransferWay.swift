package import Backplane

/// The way to transfers: through the boundary to the host, or to a pool of the program's own.
package protocol TransferWay: Sendable {
    /// Begins a transfer, or lets one go on that does the same.
    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState

    /// Returns the first state that is not the one with a number, which is waited for; 0 is the number of none.
    func state(of id: String, after number: UInt64) async throws(BackplaneError) -> TransferState

    /// Changes a transfer, and returns when that is done.
    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError)
}

/// A change of a transfer that is asked for.
package enum TransferChange: Sendable {
    case pause, resume, cancel, remove
}
