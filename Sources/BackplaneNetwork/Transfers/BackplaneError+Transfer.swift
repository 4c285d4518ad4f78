public import Backplane

extension BackplaneError.Code {
    /// The pool has no transfer of this id.
    public static let transferUnknown = Self(rawValue: "transfer.unknown")
    /// Another transfer has the id, or downloads to the same file.
    public static let transferTaken = Self(rawValue: "transfer.taken")
    /// A transfer cannot be begun as it was asked for, or not be continued in its state.
    public static let transferRefused = Self(rawValue: "transfer.refused")
    /// The digest of a downloaded file is not the one that was given.
    public static let transferDigest = Self(rawValue: "transfer.digest")
    /// A transfer waits for header fields with credentials, which are not stored.
    public static let transferCredentials = Self(rawValue: "transfer.credentials")
}
