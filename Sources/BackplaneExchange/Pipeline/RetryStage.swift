import Backplane
import BackplaneNetwork
import Synchronization

/// The stage that attempts an exchange again, according to the policy in its options and the budget of its host.
struct RetryStage: PipelineStage {
    /// A function that returns the head of a response with the number of its attempt; `nil` if another attempt follows.
    private typealias Judge = @Sendable (HTTPStreamedResponse) -> HTTPStreamedResponse?
    private typealias Exchange = @Sendable (@escaping Judge) async throws -> HTTPStreamedResponse
    let next: any HTTPFileExecutor
    let policy: RetryPolicy
    let retries: Retries
    let observed: ObservedExchange?

    var inside: any HTTPExecutor { next }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await attempt(request, options) { [next] judge in
            let response = try await next.open(request, options)
            if judge(response) == nil { await response.discard() }
            return response
        }
    }

    /// Downloads the body, from the start again if it is interrupted.
    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        try await attempt(request, options) { [next] judge in
            HTTPStreamedResponse(
                try await next.download(
                    request, to: path, options, headed: { judge($0).map(headed) ?? false }, received: received))
        }.downloaded
    }

    private func attempt(
        _ request: HTTPRequest, _ options: HTTPOptions, _ exchange: @escaping Exchange
    ) async throws -> HTTPStreamedResponse {
        let start = retries.clock.moment
        var number = options.attempt
        /// A Boolean value that indicates whether an attempt has reached the body; if so, later attempts have the same
        /// time limit for their heads as the first.
        var hadBody = false
        if number > 1 {
            try await beginRejected(request, options, number)
        } else {
            retries.budget.requested(request.hostName, at: retries.elapsed)
        }
        while true {
            let judgement = Judgement(), delay: Duration
            var failure: BackplaneError.Code?
            do {
                var response = try await limited(request, options, judgement, hadBody) { [number, hadBody] in
                    try await exchange { response in
                        guard judgement.arrive() else { return nil }
                        options.attempted?(HTTPAttempt(number: number, status: response.status))
                        let delay = delayAfter(response, request, number)
                        judgement.judge(
                            delay.flatMap { isWorthIt($0, options, start, hadBody) && take(request) ? $0 : nil })
                        guard judgement.isWanted else { return nil }
                        var counted = response
                        counted.timings.attempts += number - 1
                        return counted
                    }
                }
                guard let asked = judgement.delay else {
                    response.timings.attempts += number - 1
                    return response
                }
                delay = asked
            } catch {
                hadBody = hadBody || judgement.isWanted
                judgement.giveUp()
                guard let error = error as? BackplaneError else { throw error }
                options.attempted?(HTTPAttempt(number: number, error: error.code))
                let backoff = policy.backoff(after: number, random: retries.random())
                guard policy.mayHelp(after: error), policy.allows(request, after: number),
                    isWorthIt(backoff, options, start, hadBody), take(request)
                else { throw error }
                (delay, failure) = (backoff, error.code)
            }
            observed?.retries(after: delay, failure)
            try await retries.clock.pause(for: delay)
            number += 1
        }
    }

    /// Waits before an attempt requested by the sender because it rejected the last response.
    ///
    /// - Throws: `network.not-retried` if the policy or the budget does not allow it.
    private func beginRejected(_ request: HTTPRequest, _ options: HTTPOptions, _ number: Int) async throws {
        let delay = policy.backoff(after: number - 1, random: retries.random()), start = retries.clock.moment
        guard policy.allows(request, after: number - 1), isWorthIt(delay, options, start, false), take(request) else {
            throw BackplaneError(
                .networkNotRetried, "the policy or the budget for retries does not allow attempt \(number)",
                at: request.printableURL)
        }
        try await retries.clock.pause(for: delay)
    }

    private func delayAfter(_ response: HTTPStreamedResponse, _ request: HTTPRequest, _ number: Int) -> Duration? {
        guard policy.allows(request, after: number) else { return nil }
        return policy.delay(
            after: response.status, response.headers, attempt: number, now: retries.date(), random: retries.random())
    }

    private func take(_ request: HTTPRequest) -> Bool {
        retries.budget.take(request.hostName, at: retries.elapsed)
    }

    /// Returns whether there is time for an attempt after a delay.
    private func isWorthIt(
        _ delay: Duration, _ options: HTTPOptions, _ start: Deadline, _ hadBody: Bool
    ) -> Bool {
        let times = [options.totalTimeout, hadBody ? nil : options.headTimeout]
        let limits = times.compactMap(\.self).map { $0 - (retries.clock.moment - start) }
        return (limits + [options.call.flatMap(retries.clock.timeLeft)].compactMap(\.self)).allSatisfy { delay < $0 }
    }

    /// Runs an attempt, and fails if its response has no head once the attempt's time has passed.
    private func limited(
        _ request: HTTPRequest, _ options: HTTPOptions, _ judgement: Judgement, _ hadBody: Bool,
        _ exchange: @escaping @Sendable () async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        let limits = [policy.attemptTimeout, hadBody ? options.headTimeout : nil]
        guard let limit = limits.compactMap(\.self).min() else { return try await exchange() }
        let clock = retries.clock, end = clock.moment + limit
        return try await Race.run(by: clock, exchange) {
            if judgement.hasArrived { return nil }
            if end > clock.moment { return .again(end) }
            // The head may arrive at this moment.
            guard judgement.expire() else { return nil }
            return .over(HTTPFailure.late("did not answer", limit: limit).error(for: request))
        }
    }
}

/// The decision whether another attempt follows a response, made once its head has arrived.
private final class Judgement: Sendable {
    private struct State {
        var hasArrived = false, isThere = false, isOver = false
        var delay: Duration?
    }
    private let state = Mutex(State())

    /// A Boolean value that indicates whether the head has arrived in time.
    var hasArrived: Bool { state.withLock { $0.hasArrived } }
    /// The delay of the next attempt; `nil` if there is none.
    var delay: Duration? { state.withLock { $0.delay } }

    /// Records the arrival of a head; returns `false` if the attempt has ended.
    func arrive() -> Bool {
        state.withLock { state in
            if !state.isOver { state.hasArrived = true }
            return !state.isOver
        }
    }

    /// Ends the attempt because its time has passed; returns `false` if a head has arrived.
    func expire() -> Bool {
        state.withLock { state in
            if !state.hasArrived { state.isOver = true }
            return !state.hasArrived
        }
    }

    /// A Boolean value that indicates whether the response has arrived and is the result, unless its body is
    /// interrupted.
    var isWanted: Bool { state.withLock { $0.isThere && $0.delay == nil && !$0.isOver } }

    func judge(_ delay: Duration?) { state.withLock { ($0.isThere, $0.delay) = (true, delay) } }

    /// Records that the attempt has ended, so that later responses are ignored.
    func giveUp() { state.withLock { $0.isOver = true } }
}
