import Backplane
import BackplaneHost
package import BackplaneNetwork
import BackplaneTransfers

/// A request for the transfers of a host, in the order in which they were started.
package struct TransfersRequest: ControlMessage {
    package static let name = "transfers"
    package typealias Answer = [TransferState]
    package var open: Bool?
    package var limit: Int?
    package var also: [String]?

    package init(open: Bool? = nil, limit: Int? = nil, also: [String]? = nil) {
        (self.open, self.limit, self.also) = (open, limit, also)
    }

    static let handler = ControlRequest(Self.self, endsWithClient: true) { host, request throws(BackplaneError) in
        let limit = request.limit ?? 1_000
        guard 1...100_000 ~= limit else {
            throw BackplaneError(.controlMalformed, "expected a number from 1 to 100000, found \(limit)", at: "/limit")
        }
        let pool = try await host.transferPool()
        var states = try await pool.transfers(isOpen: request.open, limit: limit).states
        let listed = Set(states.map(\.id))
        for id in request.also ?? [] where !listed.contains(id) {
            do throws(BackplaneError) {
                states.append(try await pool.state(of: id))
            } catch {
                guard error.code == .transferUnknown else { throw error }
            }
        }
        return states
    }
}

/// A request to begin a transfer that belongs to no plugin.
package struct BeginTransferRequest: ControlMessage {
    package static let name = "begin-transfer"
    package typealias Answer = TransferState
    package var id: String
    package var url: String
    package var method: String?
    package var headers: [[String]]?
    package var file: String
    /// The form field in which to send the file, or `nil` to send it as the body.
    package var field: String?
    package var type: String?
    /// The policy for an existing file; `nil` means that the download replaces it.
    package var existing: ExistingFile?
    package var sha256: String?

    package init(id: String, url: String, file: String) { (self.id, self.url, self.file) = (id, url, file) }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        let transfer = try request.transfer()
        return try await host.transferPool().begin(transfer, again: true)
    }

    private func transfer() throws(BackplaneError) -> Transfer {
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
            return Transfer(id, upload: request)
        }
        var transfer = Transfer(id, download: request, to: file)
        transfer.existing = existing ?? .replace
        if let sha256 {
            transfer.sha256 = Self.bytes(of: sha256)
            guard transfer.sha256 != nil else {
                throw BackplaneError(.controlMalformed, "expected 64 hexadecimal digits", at: "/sha256")
            }
        }
        return transfer
    }

    /// Returns the bytes of a SHA-256 in hexadecimal digits; `nil` for another text.
    package static func bytes(of sha256: String) -> [UInt8]? {
        let digits = sha256.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, sha256.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// A request to change a transfer, which is answered when the change is complete.
package struct ChangeTransferRequest: ControlMessage {
    package static let name = "change-transfer"
    /// The resulting state, unless the transfer was removed.
    package typealias Answer = [TransferState]
    package var id: String
    package var change: TransferChange

    package init(id: String, change: TransferChange) { (self.id, self.change) = (id, change) }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        let pool = try await host.transferPool()
        try await pool.change(request.change, request.id)
        return request.change == .remove ? [] : [try await pool.state(of: request.id)]
    }
}

/// A request for the states of a transfer, each of which is a line of the answer, until the final one.
package struct WatchTransferRequest: ControlMessage {
    package static let name = "watch-transfer"
    package typealias Answer = ElementCount
    package var id: String

    package init(id: String) { self.id = id }

    static let handler = ControlRequest(Self.self, isLasting: true) { host, request, work throws(BackplaneError) in
        let pool = try await host.transferPool()
        _ = try await pool.state(of: request.id)  // throws for an unknown id instead of waiting
        for try await state in pool.states(of: request.id) { try work.send(state) }
        return ElementCount(elements: work.sent)
    }
}
