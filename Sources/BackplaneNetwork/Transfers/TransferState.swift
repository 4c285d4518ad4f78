public import Backplane

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
