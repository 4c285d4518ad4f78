public import Backplane
public import BackplaneNetwork

/// A method of authenticating requests to a server.
///
/// One authenticator serves all requests of one account, at the same time. The built-in ones are Basic, Digest and
/// bearer; a program's own is a credential's with ``AuthenticationScheme``.
public protocol Authenticator: Sendable {
    /// Returns a request with credentials if they are known to be required, or unchanged.
    ///
    /// - Parameters:
    ///   - call: The call that the exchange is made for.
    ///   - network: The way of requests that authentication itself needs, which have no proof.
    /// - Throws: `network.sign-in` if there is no proof and none can be had; `CancellationError`.
    func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) async throws -> HTTPRequest

    /// Returns whether a further request could be accepted; otherwise this response is the result.
    ///
    /// - Parameters:
    ///   - response: The response without its body.
    ///   - sent: The request as it was sent.
    ///   - failures: The number of earlier requests of this exchange that were not accepted.
    func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool

    /// Returns the request with another proof, after a response that may be answered; `nil` if that is the result.
    ///
    /// Of a response that is the result then, a body is kept that is announced with at most 16 KB.
    ///
    /// - Parameters:
    ///   - response: The response without its body.
    ///   - request: The request without credentials.
    ///   - sent: The request as it was sent.
    ///   - failures: The number of requests of this exchange that were not accepted, with this one.
    ///   - call: The call that the exchange is made for.
    ///   - network: The way of requests that authentication itself needs, which have no proof.
    /// - Throws: `network.sign-in` if no other proof can be had; `CancellationError`.
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
    /// Returns the request with an `Authorization`.
    func authorized(_ value: String) -> HTTPRequest {
        var request = self
        request.headers["Authorization"] = value
        return request
    }

    /// The `Authorization` of the request.
    var authorization: String? { headers["Authorization"] }
}
