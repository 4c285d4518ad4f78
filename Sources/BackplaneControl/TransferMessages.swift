package import BackplaneNetwork

/// A request for the transfers of a host, in the order in which they were started.
package struct TransfersRequest: ControlMessage {
    package static let name = "transfers"
    package typealias Answer = [TransferState]
    /// A Boolean value that selects unfinished or finished transfers; `nil` means all.
    package var open: Bool?
    /// The maximum number of transfers, or `nil` for 1,000.
    package var limit: Int?
    /// The ids of transfers whose states are always included, unless they were removed; `nil` for none.
    package var also: [String]?

    package init(open: Bool? = nil, limit: Int? = nil, also: [String]? = nil) {
        (self.open, self.limit, self.also) = (open, limit, also)
    }

    private enum CodingKeys: String, CodingKey { case open = "open", limit = "limit", also = "also" }
}

/// A request to begin a transfer that belongs to no plugin.
package struct BeginTransferRequest: ControlMessage {
    package static let name = "begin-transfer"
    package typealias Answer = TransferState
    package var id: String
    package var url: String
    /// The method of an upload, or `nil` for a download.
    package var method: String?
    /// Header fields, each a name and a value.
    package var headers: [[String]]?
    /// The absolute path of the downloaded or uploaded file.
    package var file: String
    /// The form field in which to send the file, or `nil` to send it as the body.
    package var field: String?
    /// The media type of an upload.
    package var type: String?
    /// The policy for an existing file: `replace`, `keep` or `number`; `nil` means `replace`.
    package var existing: String?
    /// The SHA-256 of a download in hexadecimal digits.
    package var sha256: String?

    package init(id: String, url: String, file: String) { (self.id, self.url, self.file) = (id, url, file) }

    private enum CodingKeys: String, CodingKey {
        case id = "id", url = "url", method = "method", headers = "headers", file = "file", field = "field"
        case type = "type", existing = "existing", sha256 = "sha256"
    }
}

/// A request to change a transfer, which is answered when the change is complete.
package struct ChangeTransferRequest: ControlMessage {
    package static let name = "change-transfer"
    /// The resulting state, unless the transfer was removed.
    package typealias Answer = [TransferState]
    package var id: String
    /// The change: `pause`, `resume`, `cancel` or `remove`.
    package var change: String

    package init(id: String, change: String) { (self.id, self.change) = (id, change) }

    private enum CodingKeys: String, CodingKey { case id = "id", change = "change" }
}

/// A request for the states of a transfer, each of which is a line of the answer, until the final one.
package struct WatchTransferRequest: ControlMessage {
    package static let name = "watch-transfer"
    package typealias Answer = StreamRequest.Answer
    package var id: String

    package init(id: String) { self.id = id }

    private enum CodingKeys: String, CodingKey { case id = "id" }
}
