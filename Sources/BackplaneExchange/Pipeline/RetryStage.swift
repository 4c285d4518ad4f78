import Backplane
import BackplaneNetwork

/// The stage that attempts an exchange again, by the policy in its options and the budget of its host.
struct RetryStage: HTTPExecutor {
    let next: any HTTPExecutor
    let policy: RetryPolicy
    let retries: Retries

    var schemes: [String] { next.schemes }
    var capabilities: HTTPCapabilities { next.capabilities }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await attempt(request, options) { [next] in try await next.open(request, options) }
    }

    func download(_ request: HTTPRequest, to path: String, _ options: HTTPOptions) async throws -> HTTPResponse {
        try await attempt(request, options) { [next] in
            HTTPStreamedResponse(try await next.download(request, to: path, options))
        }.downloaded
    }

    private func attempt(
        _ request: HTTPRequest, _ options: HTTPOptions,
        _ exchange: @escaping @Sendable () async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        let start = ContinuousClock.now
        var number = options.attempt
        if number > 1 {
            try await beginRejected(request, options, number)
        } else {
            retries.budget.requested(request.hostName, at: retries.elapsed())
        }
        while true {
            let delay: Duration
            do {
                var response = try await limited(request, exchange)
                guard let asked = delayAfter(response, request, number),
                    isWorthIt(asked, options, start), take(request)
                else {
                    response.timings.attempts += number - 1
                    return response
                }
                await response.discard()
                delay = asked
            } catch let error as BackplaneError {
                let backoff = policy.backoff(after: number, random: retries.random())
                guard policy.mayHelp(after: error), policy.allows(request, after: number),
                    isWorthIt(backoff, options, start), take(request)
                else { throw error }
                delay = backoff
            }
            try await retries.sleep(delay)
            number += 1
        }
    }

    /// Waits before an attempt that the sender asks for, since it has rejected the last response.
    ///
    /// - Throws: `network.not-retried` if the policy or the budget does not allow it.
    private func beginRejected(_ request: HTTPRequest, _ options: HTTPOptions, _ number: Int) async throws {
        let delay = policy.backoff(after: number - 1, random: retries.random())
        guard policy.allows(request, after: number - 1), isWorthIt(delay, options, .now), take(request) else {
            throw BackplaneError(
                .networkNotRetried, "the rules or the budget for retries do not allow attempt \(number)",
                at: request.printableURL)
        }
        try await retries.sleep(delay)
    }

    private func delayAfter(_ response: HTTPStreamedResponse, _ request: HTTPRequest, _ number: Int) -> Duration? {
        guard policy.allows(request, after: number) else { return nil }
        return policy.delay(
            after: response.status, response.headers, attempt: number, now: retries.date(), random: retries.random())
    }

    private func take(_ request: HTTPRequest) -> Bool {
        retries.budget.take(request.hostName, at: retries.elapsed())
    }

    /// Returns whether there is time for an attempt after a delay.
    private func isWorthIt(_ delay: Duration, _ options: HTTPOptions, _ start: ContinuousClock.Instant) -> Bool {
        let limits = [options.totalTimeout, options.headTimeout].compactMap(\.self).map { $0 - (.now - start) }
        return (limits + [options.call?.timeLeft].compactMap(\.self)).allSatisfy { delay < $0 }
    }

    private func limited(
        _ request: HTTPRequest, _ exchange: @escaping @Sendable () async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        guard let limit = policy.attemptTimeout else { return try await exchange() }
        let late = HTTPFailure.late("did not answer", limit: limit).error(for: request)
        return try await Race.run(exchange, within: limit, otherwise: late)
    }
}
