import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// One run of an upload, which sends the whole body, regardless of how much was sent before.
struct UploadRun: Sendable {
    /// The response to an upload.
    struct Outcome: Sendable {
        var status: Int
        var headers: HTTPHeaders
        /// The beginning of the response's body.
        var response: [UInt8]
    }
    /// The maximum number of bytes of a response that are stored.
    private static let responseLimit = 64 << 10

    /// The time limit for an upload with an executor that reports no progress: the time to send 64 MB, the maximum for
    /// URLSession, at 18 KB per second.
    private static let silentLimit: Duration = .seconds(3_600)

    let request: HTTPRequest
    let transfer: Transfer
    let network: HTTPPipeline
    let means: TransferMeans
    let report: @Sendable (TransferNews) -> Void

    /// Sends the request, and sends it again as the pool's retry policy and the host's budget allow.
    ///
    /// - Throws: `CancellationError`; `network.timeout` if no byte moves within the pool's limit; `network.body` and
    ///   other codes of the network.
    func run() async throws -> Outcome {
        let executor = try await network.executor(for: request, transfer.exchange)
        let isSilent = !request.body.isEmpty && !executor.capabilities.contains(.streamedUploads)
        let limit = isSilent ? max(means.options.idleLimit, Self.silentLimit) : means.options.idleLimit
        let policy = means.options.retry, retries = means.retries
        var number = 1, sent: Int64 = 0, last: Result<Outcome, any Error>?
        while true {
            let result: Result<Outcome, any Error>, delay: Duration?
            do {
                let outcome = try await attempt(number, within: limit, &sent)
                result = .success(outcome)
                delay = policy.delay(
                    after: outcome.status, outcome.headers, attempt: number, now: retries.date(),
                    random: retries.random())
            } catch {
                try Task.checkCancellation()
                let failure = error as? BackplaneError
                // The budget allows no further attempt.
                if failure?.code == .networkNotRetried, let last { return try last.get() }
                result = .failure(error)
                // An executor that reports no progress was silent for the whole time.
                let mayHelp = failure.map { policy.mayHelp(after: $0) && !(isSilent && $0.code == .networkTimeout) }
                delay = mayHelp == true ? policy.backoff(after: number, random: retries.random()) : nil
            }
            guard let delay, policy.allows(request, after: number) else { return try result.get() }
            try await retries.clock.pause(for: delay)
            (last, number) = (result, number + 1)
        }
    }

    /// Sends the request once.
    ///
    /// - Parameters:
    ///   - number: The number of the attempt, which the budget counts.
    ///   - limit: The time without a byte after which the attempt ends.
    ///   - sent: The number of bytes that the last attempt sent.
    private func attempt(_ number: Int, within limit: Duration, _ sent: inout Int64) async throws -> Outcome {
        let clock = means.retries.clock, last = Mutex((time: clock.moment, sent: sent))
        defer { sent = last.withLock { $0.sent } }
        let late = HTTPFailure.late("took and sent nothing", limit: limit)
        var options = transfer.exchange, policy = means.options.retry
        (policy.attempts, policy.base) = (number, .zero)  // `run` waits, and decides whether another attempt follows
        (options.redirects, options.retry, options.attempt) = (means.options.redirects, policy, number)
        options.progress = { [report] progress in
            let before = last.withLock { last in
                defer { last = (clock.moment, progress.sent) }
                return last.sent
            }
            if progress.sent < before { report(.restarted(.upload)) }
            report(.bytes(progress.sent, of: progress.toSend))
        }
        let (request, network, given) = (request, network, options)
        return try await Race.run(by: clock) {
            let response = try await network.open(request, given)
            var kept: [UInt8] = []
            for try await chunk in response.body {
                kept += chunk.prefix(Self.responseLimit - kept.count)
                if kept.count == Self.responseLimit { break }
            }
            response.body.cancel()
            return Outcome(status: response.status, headers: response.headers, response: kept)
        } watchedBy: {
            let end = last.withLock { $0.time } + limit
            return end > clock.moment ? .again(end) : .over(late.error(for: request))
        }
    }
}
