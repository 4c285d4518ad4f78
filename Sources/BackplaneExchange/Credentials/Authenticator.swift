public import Backplane
public import BackplaneNetwork

/// A method of authenticating requests to a server.
///
/// One authenticator serves all requests of one account concurrently. The built-in authenticators are Basic, Digest and
/// bearer; a program provides its own with ``AuthenticationScheme``.
public protocol Authenticator: Sendable {
    /// Returns a request with credentials if they are known to be required, or unchanged.
    ///
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
    func authorized(_ value: String) -> HTTPRequest {
        var request = self
        request.headers["Authorization"] = value
        return request
    }

    var authorization: String? { headers["Authorization"] }
}

/// The step of an exchange that authenticates requests and answers the challenges of servers.
struct CredentialStage: Sendable {
    /// The maximum number of answers to challenges in one exchange, for any authenticator.
    private static let mostAnswers = 5

    let next: ExchangeRun.Send
    let credential: Credential
    let name: String
    let authenticator: any Authenticator
    let jar: CookieJar?
    /// The transport of the requests that authentication itself needs.
    let network: HTTPPipeline

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request)
        let call = options.call ?? Call()
        var sent = try await authenticator.prepare(request, call, over: network)
        var failures = 0
        while true {
            var options = options
            options.proofFields = sent.headers.fields.map(\.name).filter { request.headers[$0] == nil }
            let response = try await next(jar?.request(sent) ?? sent, options), head = response.head
            // Decided once, since another request may change the account in the meantime.
            let isAnswered = mayAnswer(head, for: request, sent, failures)
            jar?.receive(head.headers, to: request)
            guard isAnswered else {
                authenticator.received(head, to: sent)
                return shown(response)
            }
            // The connection is free before the next proof is requested, which may need it.
            let kept = await response.kept()
            failures += 1
            guard
                let other = try await authenticator.answer(
                    head, for: request, sent: sent, failures: failures, call, over: network)
            else { return shown(kept) }
            sent = other
        }
    }

    /// Returns a response for the sender, without the cookies that the jar has stored.
    private func shown(_ response: HTTPStreamedResponse) -> HTTPStreamedResponse {
        guard jar != nil else { return response }
        var response = response
        response.headers["Set-Cookie"] = nil
        return response
    }

    private func mayAnswer(_ head: HTTPResponse, for request: HTTPRequest, _ sent: HTTPRequest, _ failures: Int) -> Bool
    {
        failures < Self.mostAnswers && request.body.isReplayable
            && authenticator.mayAnswer(head, to: sent, failures: failures)
    }

    private func require(_ request: HTTPRequest) throws(BackplaneError) {
        guard credential.covers(request) else {
            throw BackplaneError(
                .networkCredential,
                "the credential `\(name)` is for \(credential.hosts.joined(separator: ", ")), not for \(request.authority); nothing was sent",
                at: request.printableURL)
        }
        guard request.authorization == nil else {
            throw BackplaneError(
                .networkCredential,
                "the request has both its own `Authorization` and the credential `\(name)`; use only one of them; "
                    + "nothing was sent",
                at: request.printableURL)
        }
    }
}
