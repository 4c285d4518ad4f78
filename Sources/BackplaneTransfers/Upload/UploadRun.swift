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

    /// Sends the request, and sends it again as the pool's retry policy allows.
    ///
    /// - Throws: `CancellationError`; `network.timeout` if no byte moves within the pool's limit; `network.body` and
    ///   other codes of the network.
    func run() async throws -> Outcome {
        let policy = means.options.retry, retries = means.retries
        var number = 1, sent: Int64 = 0
        while true {
            let delay: Duration
            do {
                let outcome = try await attempt(&sent)
                let asked = policy.delay(
                    after: outcome.status, outcome.headers, attempt: number, now: retries.date(),
                    random: retries.random())
                guard let asked, policy.allows(request, after: number) else { return outcome }
                delay = asked
            } catch {
                try Task.checkCancellation()
                guard let failure = error as? BackplaneError, policy.mayHelp(after: failure),
                    policy.allows(request, after: number)
                else { throw error }
                delay = policy.backoff(after: number, random: retries.random())
            }
            try await retries.sleep(delay)
            number += 1
        }
    }

    /// Sends the request once.
    ///
    /// - Parameter sent: The number of bytes that the last attempt sent.
    private func attempt(_ sent: inout Int64) async throws -> Outcome {
        let last = Mutex((time: ContinuousClock.now, sent: sent))
        defer { sent = last.withLock { $0.sent } }
        let executor = try await network.executor(for: request, transfer.exchange)
        let isSilent = !request.body.isEmpty && !executor.capabilities.contains(.streamedUploads)
        let limit = isSilent ? max(means.options.idleLimit, Self.silentLimit) : means.options.idleLimit
        let late = HTTPFailure.late("took and sent nothing", limit: limit)
        var options = transfer.exchange
        (options.redirects, options.retry) = (means.options.redirects, RetryPolicy.none)
        options.progress = { [report] progress in
            let before = last.withLock { last in
                defer { last = (.now, progress.sent) }
                return last.sent
            }
            if progress.sent < before { report(.restarted(.upload)) }
            report(.bytes(progress.sent, of: progress.toSend))
        }
        let (request, network, given) = (request, network, options)
        return try await Race.run {
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
            return end > .now ? .again(end) : .over(late.error(for: request))
        }
    }
}
