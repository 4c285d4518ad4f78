public import Backplane
public import BackplaneNetwork

/// A method of authenticating requests to a server.
///
/// One authenticator serves all requests of one account concurrently. The built-in authenticators are Basic, Digest and
/// bearer; a program provides its own with ``AuthenticationScheme``.
public protocol Authenticator: Sendable {
    /// Returns a request with credentials if they are known to be required, or unchanged.
    ///
    /// - Parameters:
    ///   - call: The call for which the exchange is made.
    ///   - network: The transport of the requests that authentication itself needs, which carry no credentials.
    /// - Throws: `network.sign-in` if credentials are required but cannot be obtained; `CancellationError`.
    func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) async throws -> HTTPRequest

    /// Returns whether another request could be accepted; otherwise this response is the result.
    ///
    /// - Parameters:
    ///   - response: The response without its body.
    ///   - sent: The request as sent.
    ///   - failures: The number of earlier requests of this exchange that were not accepted.
    func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool

    /// Returns the request with new credentials, after a response that may be answered; returns `nil` if that response
    /// is the result.
    ///
    /// If the response is the result, its body is kept if the announced length is at most 16 KB.
    ///
    /// - Parameters:
    ///   - response: The response without its body.
    ///   - request: The request without credentials.
    ///   - sent: The request as sent.
    ///   - failures: The number of requests of this exchange that were not accepted, including this one.
    ///   - call: The call for which the exchange is made.
    ///   - network: The transport of the requests that authentication itself needs, which carry no credentials.
    /// - Throws: `network.sign-in` if no other credentials can be obtained; `CancellationError`.
    func answer(
        _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
        over network: HTTPPipeline
    ) async throws -> HTTPRequest?

    /// Processes a response that is the result, for example one with the nonce for the next request.
    func received(_ response: HTTPResponse, to sent: HTTPRequest)
}

extension Authenticator {
    /// Does nothing.
    public func received(_ response: HTTPResponse, to sent: HTTPRequest) {}
}

extension HTTPRequest {
    /// Returns the request with an `Authorization` field.
    func authorized(_ value: String) -> HTTPRequest {
        var request = self
        request.headers["Authorization"] = value
        return request
    }

    /// The `Authorization` field of the request.
    var authorization: String? { headers["Authorization"] }
}
