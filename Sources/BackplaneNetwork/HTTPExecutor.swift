public import Backplane

/// An engine that carries out HTTP requests: over a network, from files, or from memory in a test.
public protocol HTTPExecutor: Sendable {
    /// The URL schemes that the executor serves, in lower case.
    var schemes: [String] { get }

    /// Sends a request and returns the response, whatever its status, including redirects.
    ///
    /// Throws if there is no response.
    ///
    /// One request is one exchange: redirects, retries, caching and authentication are left to the caller. Errors give
    /// the URL as ``HTTPRequest/printableURL``. Cancelling the task ends the exchange immediately. The caller enforces
    /// the deadline of the call.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse
}

extension BackplaneError.Code {
    /// No response arrived, for example because the host is unknown or the connection failed or was closed.
    public static let networkFailed = Self(rawValue: "network.failed")
    /// The executors cannot or may not serve the URL.
    public static let networkRefused = Self(rawValue: "network.refused")
    /// The response exceeds the size limit.
    public static let networkTooLarge = Self(rawValue: "network.too-large")
}
