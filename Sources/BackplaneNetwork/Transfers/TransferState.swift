public import Backplane

/// The state of a transfer at one moment.
public struct TransferState: Sendable {
    /// The stages from waiting to one of the ends.
    public enum Phase: String, Sendable {
        /// It waits for a place, or for its turn.
        case waiting
        /// It has a place, and exchanges bytes with its server.
        case running
        /// It was paused, or waits for credentials: then there is an ``TransferState/error``.
        case paused
        /// The file is in its place, or the server has accepted the upload.
        case succeeded
        /// It has failed, and can be resumed.
        case failed
        /// It was cancelled, and what there was of a file is removed.
        case cancelled

        /// A Boolean value that indicates whether the transfer does not go on by itself.
        public var isFinal: Bool { self == .succeeded || self == .failed || self == .cancelled }
    }

    /// The name that the transfer was begun with.
    public package(set) var id: String
    /// The owner, as the transfer was begun with.
    public package(set) var owner: String
    /// A Boolean value that indicates whether this is an upload.
    public package(set) var isUpload: Bool
    /// The stage that the transfer has reached.
    public package(set) var phase = Phase.waiting
    /// The bytes of the file that are there, or that were taken for sending.
    public package(set) var bytes: Int64 = 0
    /// The number of all bytes, once it is known.
    public package(set) var total: Int64?
    /// The bytes in a second, while it runs and once it can be told.
    public package(set) var rate: Double?
    /// The time that the rest will take at this rate.
    public package(set) var timeLeft: Duration?
    /// The reason why it began anew the last time that it did; `nil` if it never did.
    public package(set) var restart: RestartReason?
    /// The path of the finished file; with ``ExistingFile/number``, another one than was asked for.
    public package(set) var file: String?
    /// A Boolean value that indicates whether a file that existed was kept, and nothing was downloaded.
    public package(set) var wasKept = false
    /// The status of the response to an upload.
    public package(set) var status: Int?
    /// The beginning of the body of the response to an upload, up to 64 KB.
    public package(set) var response: [UInt8]?
    /// The reason why it has failed, or why it is paused.
    public package(set) var error: BackplaneError?

    /// The number of this state, greater than those of earlier ones of the same pool.
    package var number: UInt64 = 0

    package init(id: String, owner: String, isUpload: Bool) {
        (self.id, self.owner, self.isUpload) = (id, owner, isUpload)
    }

    /// The finished file of a download, to hand it to another component.
    public var storedFile: StoredFile? {
        guard phase == .succeeded, !isUpload, let file else { return nil }
        return StoredFile(path: file, size: bytes)
    }

    /// The progress from 0 to 1; `nil` if the number of all bytes is unknown.
    public var progress: Double? {
        if phase == .succeeded { return 1 }
        guard let total else { return nil }
        return total > 0 ? min(1, Double(bytes) / Double(total)) : 0
    }
}
