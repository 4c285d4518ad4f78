import Backplane
import BackplaneNetwork

/// The stage that authenticates requests and answers the challenges of servers.
struct CredentialStage: PipelineStage {
    /// The maximum number of answers to challenges in one exchange, for any authenticator.
    private static let mostAnswers = 5

    let next: any HTTPExecutor
    let credential: Credential
    let name: String
    let authenticator: any Authenticator
    let jar: CookieJar?
    /// The transport of the requests that authentication itself needs.
    let network: HTTPPipeline

    /// Sends the request, and answers challenges until a response is the result.
    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request)
        let call = options.call ?? Call()
        var sent = try await authenticator.prepare(request, call, over: network)
        var failures = 0
        while true {
            var options = options
            options.proofFields = sent.headers.fields.map(\.name).filter { request.headers[$0] == nil }
            let response = try await next.open(jar?.request(sent) ?? sent, options), head = response.head
            // Decided once, since another request may change the account in the meantime.
            let isAnswered = mayAnswer(head, for: request, sent, failures)
            jar?.receive(head.headers, to: request)
            guard isAnswered else {
                authenticator.received(head, to: sent)
                return shown(response)
            }
            // The connection is free before another proof is asked for, which may need one.
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
        guard jar != nil, Redaction.cookies.hides(response.headers.values("Set-Cookie").joined()) else {
            return response
        }
        var response = response
        response.headers["Set-Cookie"] = nil
        return response
    }

    private func mayAnswer(_ head: HTTPResponse, for request: HTTPRequest, _ sent: HTTPRequest, _ failures: Int) -> Bool
    {
        failures < Self.mostAnswers && request.body.isReplayable
            && authenticator.mayAnswer(head, to: sent, failures: failures)
    }

    /// Checks that the request may carry the credentials.
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

extension HTTPStreamedResponse {
    /// The response without its body.
    fileprivate var head: HTTPResponse { HTTPResponse(status: status, headers: headers) }
}
