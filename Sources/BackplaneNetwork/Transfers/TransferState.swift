public import Backplane
import FoundationEssentials

/// A snapshot of the state of a transfer.
public struct TransferState: Sendable {
    /// The phases of a transfer, from waiting to one of its final states.
    public enum Phase: String, Sendable {
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

    /// The number of this state, greater than those of earlier ones of the same pool.
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
public enum RestartReason: String, Sendable {
    /// The file on the server has changed since the download started.
    case changed
    /// The server does not support range requests.
    case noRanges = "no-ranges"
    /// The server sends no strong validator (RFC 9110, section 8.8), which is required to request a range.
    case noValidator = "no-validator"
    /// The server sent a range other than the requested one.
    case wrongRange = "wrong-range"
    /// The existing part file is not the one that was written: it was edited or truncated, or belongs to another URL.
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

extension TransferState: Codable {
    /// Decodes a state from an object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        self.init(
            id: try values.decode(String.self, forKey: TextKey("id")),
            owner: try values.decodeIfPresent(String.self, forKey: TextKey("owner")) ?? "",
            isUpload: try values.decodeIfPresent(Bool.self, forKey: TextKey("upload")) ?? false)
        // A phase that only a newer host knows counts as running.
        phase = Phase(rawValue: try values.decode(String.self, forKey: TextKey("phase"))) ?? .running
        bytes = try values.decodeIfPresent(Int64.self, forKey: TextKey("bytes")) ?? 0
        total = try values.decodeIfPresent(Int64.self, forKey: TextKey("total"))
        rate = try values.decodeIfPresent(Double.self, forKey: TextKey("bytesPerSecond"))
        timeLeft = try values.decodeIfPresent(Double.self, forKey: TextKey("secondsLeft")).map { .seconds($0) }
        restart = try values.decodeIfPresent(String.self, forKey: TextKey("restart"))
            .flatMap { RestartReason(rawValue: $0) }
        file = try values.decodeIfPresent(String.self, forKey: TextKey("file"))
        wasKept = try values.decodeIfPresent(Bool.self, forKey: TextKey("kept")) ?? false
        status = try values.decodeIfPresent(Int.self, forKey: TextKey("status"))
        response = try values.decodeIfPresent(Data.self, forKey: TextKey("response")).map { Array($0) }
        error = try values.decodeIfPresent(BackplaneError.self, forKey: TextKey("error"))
        number = try values.decodeIfPresent(UInt64.self, forKey: TextKey("number")) ?? 0
    }

    /// Encodes the state as an object, with a response in Base64.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(id, forKey: TextKey("id"))
        if !owner.isEmpty { try values.encode(owner, forKey: TextKey("owner")) }
        if isUpload { try values.encode(true, forKey: TextKey("upload")) }
        try values.encode(phase.rawValue, forKey: TextKey("phase"))
        try values.encode(bytes, forKey: TextKey("bytes"))
        try values.encodeIfPresent(total, forKey: TextKey("total"))
        try values.encodeIfPresent(progress, forKey: TextKey("progress"))
        try values.encodeIfPresent(rate, forKey: TextKey("bytesPerSecond"))
        try values.encodeIfPresent(timeLeft.map { $0 / .seconds(1) }, forKey: TextKey("secondsLeft"))
        try values.encodeIfPresent(restart?.rawValue, forKey: TextKey("restart"))
        try values.encodeIfPresent(file, forKey: TextKey("file"))
        if wasKept { try values.encode(true, forKey: TextKey("kept")) }
        try values.encodeIfPresent(status, forKey: TextKey("status"))
        try values.encodeIfPresent(response.map { Data($0) }, forKey: TextKey("response"))
        try values.encodeIfPresent(error, forKey: TextKey("error"))
        try values.encode(number, forKey: TextKey("number"))
    }
}
