public import Backplane

/// What carries requests out: over a network, from files, or from memory in a test.
public protocol HTTPExecutor: Sendable {
    /// The URL schemes it serves, in lower case.
    var schemes: [String] { get }

    /// Carries a request out. Any status is a response, a redirect too; an error is thrown when there is none.
    ///
    /// One request is one exchange: following, retrying, caching and signing in are decided above. An error names the URL as
    /// ``HTTPRequest/printableURL``. Cancelling the task ends the exchange, at once. The deadline of the call is enforced by whoever calls this.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse
}

extension BackplaneError.Code {
    /// There was no response: no connection, no such host, broken off.
    public static let networkFailed = Self(rawValue: "network.failed")
    /// A URL that nothing here can serve, or may not serve.
    public static let networkRefused = Self(rawValue: "network.refused")
    /// A response that is larger than it may be.
    public static let networkTooLarge = Self(rawValue: "network.too-large")
}
