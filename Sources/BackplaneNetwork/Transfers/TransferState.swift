public import Backplane
import FoundationEssentials

/// A snapshot of the state of a transfer.
public struct TransferState: Sendable {
    /// The phases of a transfer, from waiting to one of its final states.
    public enum Phase: String, Codable, Sendable {
        /// The transfer is waiting for its turn or for its next attempt.
        case waiting
        /// The transfer is exchanging bytes with its server.
        case running
        /// The transfer was paused, or waits for credentials, in which case ``TransferState/error`` is set.
        case paused
        /// The file is at its target, or the server has accepted the upload.
        case succeeded
        /// The transfer has failed, and can be resumed.
        case failed
        /// The transfer was cancelled, and its partial file has been removed.
        case cancelled

        /// A Boolean value that indicates whether the transfer has ended; it may still be resumed.
        public var isFinal: Bool { self == .succeeded || self == .failed || self == .cancelled }
    }

    /// The id assigned to the transfer, unique in its store.
    public package(set) var id: String
    /// The owner specified by ``Transfer/owner``.
    public package(set) var owner: String
    /// A Boolean value that indicates whether this is an upload.
    public package(set) var isUpload: Bool
    /// The current phase of the transfer.
    public package(set) var phase = Phase.waiting
    /// The number of bytes received, or passed on for sending.
    public package(set) var bytes: Int64 = 0
    /// The total number of bytes, if known.
    public package(set) var total: Int64?
    /// The number of bytes per second while the transfer is running, if known.
    public package(set) var rate: Double?
    /// The estimated time for the remaining bytes.
    public package(set) var timeLeft: Duration?
    /// The reason for the last restart; `nil` if there was none.
    public package(set) var restart: RestartReason?
    /// The path of the finished file; with ``ExistingFile/number`` it may differ from the requested one.
    public package(set) var file: String?
    /// A Boolean value that indicates whether an existing file was kept and nothing was downloaded.
    public package(set) var wasKept = false
    /// The status of the response to an upload.
    public package(set) var status: Int?
    /// The beginning of the body of the response to an upload, up to 64 KB.
    public package(set) var response: [UInt8]?
    /// The reason why the transfer has failed or is paused.
    public package(set) var error: BackplaneError?

    /// The number of this state, from 1, greater than the numbers of all earlier states in the pool.
    package var number: UInt64 = 0

    package init(id: String, owner: String, isUpload: Bool) {
        (self.id, self.owner, self.isUpload) = (id, owner, isUpload)
    }

    /// The finished file of a download, for handing over to another component.
    public var storedFile: StoredFile? {
        guard phase == .succeeded, !isUpload, let file else { return nil }
        return StoredFile(path: file, size: bytes)
    }

    /// The progress from 0 to 1; `nil` if the total is unknown.
    public var progress: Double? {
        if phase == .succeeded { return 1 }
        guard let total else { return nil }
        return total > 0 ? min(1, Double(bytes) / Double(total)) : 0
    }
}

/// The reason why an interrupted transfer was restarted from the beginning.
public enum RestartReason: String, Codable, Sendable {
    /// The file on the server has changed since the download started.
    case changed
    /// The server does not support range requests.
    case noRanges = "no-ranges"
    /// The server sends no strong validator (RFC 9110, section 8.8), which is required to request a range.
    case noValidator = "no-validator"
    /// The server sent a range other than the requested one.
    case wrongRange = "wrong-range"
    /// The partial file is unusable: it was truncated, or belongs to another URL.
    case partUnusable = "part-unusable"
    /// The file was assembled from several responses, and its digest does not match the expected one.
    case wrongDigest = "wrong-digest"
    /// The transfer is an upload, which cannot be continued where it was interrupted.
    case upload

    /// The reason as the end of a sentence: "it was restarted, because …".
    public var explanation: String {
        switch self {
        case .changed: "the file on the server has changed"
        case .noRanges: "the server does not support range requests"
        case .noValidator: "the server sends no strong validator for the file"
        case .wrongRange: "the server sent a different range than requested"
        case .partUnusable: "the existing part was changed, or belongs to another URL"
        case .wrongDigest: "the digest of the assembled file did not match"
        case .upload: "an upload cannot be continued where it was interrupted"
        }
    }
}

// The one coding of states: at the boundary, in the store, on the control socket and on the command line.
extension TransferState: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, owner, phase, bytes, total, progress, restart, file, status, response, error, number
        case isUpload = "upload", wasKept = "kept", rate = "bytesPerSecond", timeLeft = "secondsLeft"
    }

    /// Decodes a state from an object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        owner = try values.decodeIfPresent(String.self, forKey: .owner) ?? ""
        isUpload = try values.decodeIfPresent(Bool.self, forKey: .isUpload) ?? false
        phase = try values.decode(Phase.self, forKey: .phase)
        bytes = try values.decode(Int64.self, forKey: .bytes)
        total = try values.decodeIfPresent(Int64.self, forKey: .total)
        rate = try values.decodeIfPresent(Double.self, forKey: .rate)
        timeLeft = try values.decodeIfPresent(Double.self, forKey: .timeLeft).map { .seconds($0) }
        restart = try values.decodeIfPresent(RestartReason.self, forKey: .restart)
        file = try values.decodeIfPresent(String.self, forKey: .file)
        wasKept = try values.decodeIfPresent(Bool.self, forKey: .wasKept) ?? false
        status = try values.decodeIfPresent(Int.self, forKey: .status)
        response = try values.decodeIfPresent(Data.self, forKey: .response).map { Array($0) }
        error = try values.decodeIfPresent(BackplaneError.self, forKey: .error)
        number = try values.decode(UInt64.self, forKey: .number)
    }

    /// Encodes the state as an object, with a response in Base64.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        if !owner.isEmpty { try values.encode(owner, forKey: .owner) }
        if isUpload { try values.encode(true, forKey: .isUpload) }
        try values.encode(phase, forKey: .phase)
        try values.encode(bytes, forKey: .bytes)
        try values.encodeIfPresent(total, forKey: .total)
        try values.encodeIfPresent(progress, forKey: .progress)
        try values.encodeIfPresent(rate, forKey: .rate)
        try values.encodeIfPresent(timeLeft.map { $0 / .seconds(1) }, forKey: .timeLeft)
        try values.encodeIfPresent(restart, forKey: .restart)
        try values.encodeIfPresent(file, forKey: .file)
        if wasKept { try values.encode(true, forKey: .wasKept) }
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(response.map { Data($0) }, forKey: .response)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encode(number, forKey: .number)
    }
}
