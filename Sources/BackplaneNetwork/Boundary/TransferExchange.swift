import Backplane
import CBackplane

/// A component's transfers through the functions of `backplane.transfers/1`.
struct TransferExchange: TransferWay {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        guard let pieces = transfer.target == nil ? transfer.request.body.segments : [] else {
            throw BackplaneError(
                .transferRefused,
                "the body is a stream, which cannot be read again after a restart; upload bytes, a file or a form",
                at: transfer.request.printableURL)
        }
        return try await state { table, component, context in
            transfer.withC(pieces) { table.begin(component, $0, nil, PendingAnswer.done, context) }
        }
    }

    func state(of id: String, after number: UInt64?) async throws(BackplaneError) -> TransferState {
        try await state { table, component, context in
            id.withBytes { table.state(component, $0, number ?? .max, nil, PendingAnswer.done, context) }
        }
    }

    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError) {
        _ = try await ask { table, component, context in
            id.withBytes { table.change(component, $0, change.number, nil, PendingAnswer.done, context) }
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

extension TransferChange {
    fileprivate var number: UInt32 {
        switch self {
        case .pause: UInt32(BP_TRANSFER_PAUSE)
        case .resume: UInt32(BP_TRANSFER_RESUME)
        case .cancel: UInt32(BP_TRANSFER_CANCEL)
        case .remove: UInt32(BP_TRANSFER_REMOVE)
        }
    }
}

extension Transfer {
    /// Lends the transfer for the duration of `use`.
    fileprivate func withC<Result>(_ pieces: [BodySegment], _ use: (UnsafePointer<bp_transfer>) -> Result) -> Result {
        var head = target == nil ? request.withMediaType : request
        if target == nil { head.body = .none }
        let named = Pairs(
            [("credential", credential), ("account", account)].compactMap { name, value in
                value.map { (key: name, value: $0) }
            })
        return head.withC { request in
            id.withBytes { id in
                (target ?? "").withBytes { target in
                    (sha256 ?? []).withBytes { digest in
                        named.withPairs { named in
                            pieces.withC { pieces in
                                var own = bp_transfer(
                                    size: UInt32(MemoryLayout<bp_transfer>.size), existing: existing.number,
                                    id: id, request: request, pieces: pieces.baseAddress, piece_count: pieces.count,
                                    download: target, sha256: digest, size_limit: sizeLimit ?? 0,
                                    priority: Int32(clamping: priority), reserved: 0, named: named.baseAddress,
                                    named_count: named.count)
                                return use(&own)
                            }
                        }
                    }
                }
            }
        }
    }
}

extension [BodySegment] {
    /// Lends the pieces of a body for the duration of `use`.
    fileprivate func withC<Result>(_ use: (UnsafeBufferPointer<bp_transfer_piece>) -> Result) -> Result {
        var bytes: [UInt8] = [], ends: [Int] = []
        for segment in self {
            switch segment {
            case .bytes(let own): bytes += own
            case .file(let path): bytes += path.utf8
            }
            ends.append(bytes.count)
        }
        return bytes.withBytes { all in
            var start = 0
            let pieces = zip(self, ends).map { segment, end in
                defer { start = end }
                let isFile = if case .file = segment { true } else { false }
                return bp_transfer_piece(
                    size: UInt32(MemoryLayout<bp_transfer_piece>.size),
                    kind: UInt32(isFile ? BP_TRANSFER_FILE : BP_TRANSFER_BYTES),
                    content: bp_bytes(data: all.data.map { $0 + start }, length: end - start))
            }
            return pieces.withUnsafeBufferPointer(use)
        }
    }
}

extension ExistingFile {
    fileprivate var number: UInt32 {
        switch self {
        case .replace: UInt32(BP_EXISTING_REPLACE)
        case .keep: UInt32(BP_EXISTING_KEEP)
        case .number: UInt32(BP_EXISTING_NUMBER)
        }
    }
}
