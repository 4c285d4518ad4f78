import Backplane
import BackplaneNetwork
import BackplaneTransfers
import CBackplane

/// The functions of `backplane.transfers/1`.
let transferFunctions = bp_transfers_1(
    size: UInt32(MemoryLayout<bp_transfers_1>.size), reserved: 0,
    begin: { handle, transfer, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let transfer = try transfers.transfer(copying: transfer)
            return { pool throws(BackplaneError) in try transfers.answer(try await pool.begin(transfer)) }
        }
    },
    change: { handle, id, change, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let id = transfers.name(id.text), change = Int(change)
            guard BP_TRANSFER_PAUSE...BP_TRANSFER_REMOVE ~= change else {
                throw BackplaneError(.transferRefused, "unknown change \(change) of a transfer")
            }
            return { pool throws(BackplaneError) in
                switch change {
                case Int(BP_TRANSFER_PAUSE): try await pool.pause(id)
                case Int(BP_TRANSFER_RESUME): try await pool.resume(id)
                case Int(BP_TRANSFER_CANCEL): try await pool.cancel(id)
                default: try await pool.remove(id)
                }
                return []
            }
        }
    },
    state: { handle, id, after, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let id = transfers.name(id.text)
            return { pool throws(BackplaneError) in
                let state =
                    if after == 0 { try await pool.state(of: id) } else {
                        try await pool.state(of: id, after: after)
                    }
                return try transfers.answer(state)
            }
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.transfers.operations.cancel(id) })

/// Starts an operation of the component with a handle; its arguments are read before this function returns.
///
/// Components do not wait for its end: the transfer continues, and a swap or a stop only ends the wait.
private func start(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, _ reply: Reply,
    _ prepare: (ComponentTransfers) throws(BackplaneError) ->
        @Sendable (TransferPool) async throws(BackplaneError) ->
        [UInt8]
) -> UInt64 {
    do throws(BackplaneError) {
        let component = try ComponentHandles.require(handle)
        try component.require(.communicationController, .networkService, for: BP_TRANSFERS)
        let transfers = component.transfers, operation = try prepare(transfers)
        try component.begin(isWait: true)
        return transfers.operations.start(call.map { Call(copying: $0) }, isWait: true) { () throws(BackplaneError) in
            try await operation(try await transfers.host.pool())
        } _: { result in
            reply.end(result.map { EncodedAnswer($0) })
            component.end(isWait: true)
        }
    } catch {
        reply.end(error)
        return 0
    }
}

extension ComponentTransfers {
    /// Returns a state in JSON, as presented to the component.
    fileprivate func answer(_ state: TransferState) throws(BackplaneError) -> [UInt8] {
        try JSON.encode(shown(state), failing: .callInvalidOutput)
    }
}
