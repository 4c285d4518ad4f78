/// The reason why a transfer that had been interrupted began anew, and fetched or sent everything again.
public enum RestartReason: String, Sendable {
    /// The file is another one at the server than when the download began.
    case changed
    /// The server sends no parts of files.
    case noRanges = "no-ranges"
    /// The server names no version of the file by which a part could be asked for: no strong `ETag`, and no
    /// `Last-Modified` that is one (RFC 9110, section 8.8.2.2).
    case noValidator = "no-validator"
    /// The server sent another part than the one that it was asked for.
    case wrongRange = "wrong-range"
    /// The part that was there is not what was written: it was edited, shortened, or belongs to another URL.
    case partUnusable = "part-unusable"
    /// The file was put together from several responses, and has not the digest that it should have.
    case wrongDigest = "wrong-digest"
    /// It is an upload, which servers cannot take up where it ended.
    case upload

    /// The reason as a sentence's end: "it began anew, since …".
    public var explanation: String {
        switch self {
        case .changed: "the file has changed at the server"
        case .noRanges: "the server sends no parts of files"
        case .noValidator: "the server names no version of the file"
        case .wrongRange: "the server sent another part than it was asked for"
        case .partUnusable: "the part that was there had been changed, or was of another URL"
        case .wrongDigest: "the digest of what was put together was wrong"
        case .upload: "uploads cannot be taken up where they ended"
        }
    }
}
