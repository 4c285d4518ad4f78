public import Backplane

extension BackplaneError.Code {
    /// No response arrived, because the host is unknown or the connection failed or was closed.
    public static let networkFailed = Self(rawValue: "network.failed")
    /// A file that an exchange reads or writes cannot be used.
    public static let networkFile = Self(rawValue: "network.file")
    /// The executors cannot or may not serve the URL.
    public static let networkRefused = Self(rawValue: "network.refused")
    /// A secure connection is not possible, because the certificate is not trusted or the server does not support TLS.
    public static let networkInsecure = Self(rawValue: "network.insecure")
    /// The response is not HTTP, or its compressed content is damaged.
    public static let networkMalformed = Self(rawValue: "network.malformed")
    /// The executor was shut down before the exchange was finished.
    public static let networkShutDown = Self(rawValue: "network.shut-down")
    /// A body exceeds the size limit.
    public static let networkTooLarge = Self(rawValue: "network.too-large")
    /// The executor does not have a capability that the request needs; nothing was sent.
    public static let networkUnsupported = Self(rawValue: "network.unsupported")
    /// A time limit of the exchange has passed.
    public static let networkTimeout = Self(rawValue: "network.timeout")
    /// The body of a request cannot be read, has a length other than announced, or has already been sent.
    public static let networkBody = Self(rawValue: "network.body")
    /// A credential is unknown, does not apply to the host or the component, or lacks the account; nothing was sent.
    public static let networkCredential = Self(rawValue: "network.credential")
    /// A server returned no token for a credential, or a token has expired and cannot be refreshed.
    public static let networkSignIn = Self(rawValue: "network.sign-in")
}
