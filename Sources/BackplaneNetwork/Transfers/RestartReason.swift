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
