import Backplane
public import BackplaneNetwork

extension TransferPool {
    /// A client of the pool, like that of components, for code that works with both.
    public var client: TransferClient { TransferClient(PoolWay(pool: self)) }
}

/// The access to the transfers of a pool in the same program.
private struct PoolWay: TransferWay {
    let pool: TransferPool

    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState { try await pool.begin(transfer) }

    func state(of id: String, after number: UInt64) async throws(BackplaneError) -> TransferState {
        guard number > 0 else { return try await pool.state(of: id) }
        return try await pool.state(of: id, after: number)
    }

    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError) {
        switch change {
        case .pause: try await pool.pause(id)
        case .resume: try await pool.resume(id)
        case .cancel: try await pool.cancel(id)
        case .remove: try await pool.remove(id)
        }
    }
}
