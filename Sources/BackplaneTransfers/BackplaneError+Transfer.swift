public import Backplane

extension BackplaneError.Code {
    /// The pool has no transfer with this id.
    public static let transferUnknown = Self(rawValue: "transfer.unknown")
    /// Another transfer has the same id, or downloads to the same file.
    public static let transferTaken = Self(rawValue: "transfer.taken")
    /// A transfer cannot be started as requested, or cannot be continued in its current state.
    public static let transferRefused = Self(rawValue: "transfer.refused")
    /// The digest of a downloaded file does not match the expected one.
    public static let transferDigest = Self(rawValue: "transfer.digest")
    /// A transfer waits for header fields with credentials, which are never stored.
    public static let transferCredentials = Self(rawValue: "transfer.credentials")
}

extension BackplaneError {
    static func targetTaken(_ target: String) -> BackplaneError {
        BackplaneError(
            .transferTaken, "another transfer downloads to this file; wait for it, or cancel it", at: target)
    }
}
