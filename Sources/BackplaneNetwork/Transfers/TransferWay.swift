package import Backplane

/// The transport to transfers: through the boundary to the host, or to the program's own pool.
package protocol TransferWay: Sendable {
    /// Starts a transfer, or resumes an identical one.
    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState

    /// Waits for the first state other than the one with a number, and returns it; 0 is not the number of any state.
    func state(of id: String, after number: UInt64) async throws(BackplaneError) -> TransferState

    /// Changes a transfer, and returns once the change is complete.
    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError)
}

/// A requested change of a transfer.
package enum TransferChange: Sendable {
    case pause, resume, cancel, remove
}
