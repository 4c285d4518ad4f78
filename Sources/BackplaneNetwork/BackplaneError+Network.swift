public import Backplane

extension BackplaneError.Code {
    /// No response arrived, for example because the host is unknown or the connection failed or was closed.
    public static let networkFailed = Self(rawValue: "network.failed")
    /// A file that an exchange reads or writes cannot be used.
    public static let networkFile = Self(rawValue: "network.file")
    /// The executors cannot or may not serve the URL.
    public static let networkRefused = Self(rawValue: "network.refused")
    /// A body exceeds the size limit.
    public static let networkTooLarge = Self(rawValue: "network.too-large")
    /// The executor does not have a capability that the request needs; nothing was sent.
    public static let networkUnsupported = Self(rawValue: "network.unsupported")
    /// A time limit of the exchange has passed.
    public static let networkTimeout = Self(rawValue: "network.timeout")
    /// The body of a request cannot be read, has another length than announced, or was sent already.
    public static let networkBody = Self(rawValue: "network.body")
}
