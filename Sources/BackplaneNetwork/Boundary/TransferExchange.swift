import Backplane
import CBackplane

/// A component's transfers through the functions of `backplane.transfers/1`.
struct TransferExchange: TransferWay {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        _ = try transfer.pieces
        let json = try JSON.encode(transfer, failing: .transferRefused)
        return try await state { table, component, context in
            json.withBytes { table.begin(component, $0, nil, PendingAnswer.done, context) }
        }
    }

    func state(of id: String, after number: UInt64?) async throws(BackplaneError) -> TransferState {
        try await state { table, component, context in
            id.withBytes { table.state(component, $0, number ?? .max, nil, PendingAnswer.done, context) }
        }
    }

    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError) {
        _ = try await ask { table, component, context in
            id.withBytes { id in
                change.rawValue.withBytes { table.change(component, id, $0, nil, PendingAnswer.done, context) }
            }
        }
    }

    private typealias Start = (bp_transfers_1, _ component: UInt64, UnsafeMutableRawPointer) -> UInt64

    private func state(_ start: Start) async throws(BackplaneError) -> TransferState {
        try JSON.decode(TransferState.self, try await ask(start), failing: .callInvalidOutput)
    }

    /// Starts an operation, and waits for its end; a cancelled task cancels it by its id.
    private func ask(_ start: Start) async throws(BackplaneError) -> [UInt8] {
        guard let table = services.host.table(BP_TRANSFERS, revision: 1, as: bp_transfers_1.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_TRANSFERS)/1; use a newer host")
        }
        guard !Task.isCancelled else { throw BackplaneError(.callCancelled, "the task was cancelled") }
        let component = services.handle, answer = PendingAnswer()
        let cancellation = Cancellation { table.pointer.pointee.cancel(component, $0) }
        cancellation.began(start(table.pointer.pointee, component, answer.toContext()))
        return try await answer.wait(onCancel: { cancellation.cancel() }).get()
    }
}
