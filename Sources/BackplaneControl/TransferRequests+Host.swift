import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTransfers

/// The requests about transfers.
extension ControlRequest {
    static let ofTransfers = [transfers, beginTransfer, changeTransfer, watchTransfer]

    private static let transfers = ControlRequest(TransfersRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        let limit = request.limit ?? 1_000
        guard 1...100_000 ~= limit else {
            throw BackplaneError(
                .controlMalformed, "expected a number from 1 to 100000, found \(limit)", at: "/limit")
        }
        let pool = try await host.transferPool()
        var states = try await pool.transfers(isOpen: request.open, limit: limit).states
        guard let also = request.also else { return states }
        let listed = Set(states.map(\.id))
        for id in also where !listed.contains(id) {
            do throws(BackplaneError) {
                states.append(try await pool.state(of: id))
            } catch {
                guard error.code == .transferUnknown else { throw error }
            }
        }
        return states
    }

    private static let beginTransfer = ControlRequest(BeginTransferRequest.self) {
        host, request throws(BackplaneError) in
        let transfer = try request.transfer()
        return try await host.transferPool().beginAgain(transfer)
    }

    private static let changeTransfer = ControlRequest(ChangeTransferRequest.self) {
        host, request throws(BackplaneError) in
        let pool = try await host.transferPool()
        switch request.change {
        case "pause": try await pool.pause(request.id)
        case "resume": try await pool.resume(request.id)
        case "cancel": try await pool.cancel(request.id)
        case "remove":
            try await pool.remove(request.id)
            return []
        default:
            throw BackplaneError(
                .controlMalformed, "expected `pause`, `resume`, `cancel` or `remove`, found `\(request.change)`",
                at: "/change")
        }
        return [try await pool.state(of: request.id)]
    }

    private static let watchTransfer = ControlRequest(WatchTransferRequest.self, endsWithClient: true, isLasting: true)
    {
        host, request, work throws(BackplaneError) in
        var sent = 0
        for await state in try await host.transferPool().states(of: request.id) {
            try work.send(element: try JSON.encode(state, failing: .controlFailed))
            sent += 1
        }
        return StreamRequest.Answer(elements: sent)
    }
}

extension BeginTransferRequest {
    /// Returns the requested transfer.
    fileprivate func transfer() throws(BackplaneError) -> Transfer {
        guard file.hasPrefix("/") else {
            throw BackplaneError(.controlMalformed, "expected an absolute path, found `\(file)`", at: "/file")
        }
        var request = HTTPRequest(method ?? "GET", url)
        for field in headers ?? [] {
            guard field.count == 2 else {
                throw BackplaneError(
                    .controlMalformed, "expected a name and a value, found \(field.count) strings", at: "/headers")
            }
            request.headers.add(field[0], field[1])
        }
        guard method == nil else {
            let type = type ?? "application/octet-stream"
            request.body = field.map { HTTPBody.multipart([.file($0, file, type: type)]) } ?? .file(file, type: type)
            return Transfer(id, .upload(request))
        }
        var settings = Transfer.Download()
        if let existing {
            guard let policy = ExistingFile(rawValue: existing) else {
                throw BackplaneError(
                    .controlMalformed, "expected `replace`, `keep` or `number`, found `\(existing)`", at: "/existing")
            }
            settings.existing = policy
        }
        if let sha256 {
            let digits = Array(sha256.utf8)
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: digits.count - 1, by: 2) {
                if let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) {
                    bytes.append(byte)
                }
            }
            guard digits.count == 64, bytes.count == 32 else {
                throw BackplaneError(.controlMalformed, "expected 64 hexadecimal digits", at: "/sha256")
            }
            settings.sha256 = bytes
        }
        return Transfer(id, .download(request, to: file, settings))
    }
}
