import Backplane
import BackplaneExchange
import BackplaneNetwork
import Dispatch
import Synchronization

/// One run of a transfer, with the parts of its pool that it needs.
struct TransferRun: Sendable {
    let transfer: Transfer
    let network: HTTPPipeline
    let options: TransferOptions
    let retries: Retries
    let disk: DispatchQueue
    let report: @Sendable (TransferNews) -> Void
    /// Waits until the reported progress is in the store.
    let saved: @Sendable () async -> Void

    /// Returns the options of one exchange.
    ///
    /// - Parameter attempt: Its number; further attempts are taken from the host's budget. The run waits before them,
    ///   and decides whether another one follows.
    func exchangeOptions(attempt: Int) -> HTTPOptions {
        var exchange = HTTPOptions(), policy = options.retry
        (policy.attempts, policy.base) = (attempt, .zero)
        (exchange.redirects, exchange.retry, exchange.attempt) = (options.redirects, policy, attempt)
        (exchange.credential, exchange.account) = (transfer.credential, transfer.account)
        exchange.sender = transfer.sender
        return exchange
    }
}

enum TransferNews: Sendable {
    /// The number of bytes, and the total, if known.
    case bytes(Int64, of: Int64?)
    case synced(Int64)
    case restarted(RestartReason)
}

extension TransferRun {
    private static let responseLimit = 64 << 10

    /// The time limit for an upload with an executor that reports no progress: the time to send 64 MB, the maximum for
    /// URLSession, at 18 KB per second.
    private static let silentLimit: Duration = .seconds(3_600)

    /// Sends the request, and sends it again, from the beginning, as the pool's retry policy and the host's budget
    /// allow.
    func upload() async throws -> TransferTable.Outcome {
        let request = transfer.request, policy = options.retry
        let executor = try await network.executor(for: request, exchangeOptions(attempt: 1))
        let isSilent = !request.body.isEmpty && !executor.capabilities.contains(.streamedUploads)
        let limit = isSilent ? max(options.idleLimit, Self.silentLimit) : options.idleLimit
        var number = 1, sent: Int64 = 0, last: Result<TransferTable.Outcome, any Error>?
        while true {
            let result: Result<TransferTable.Outcome, any Error>, delay: Duration?
            do {
                let (outcome, status, headers) = try await attempt(number, within: limit, &sent)
                result = .success(outcome)
                delay = policy.delay(
                    after: status, headers, attempt: number, now: retries.date(), random: retries.random())
            } catch {
                try Task.checkCancellation()
                let failure = error as? BackplaneError
                // The budget allows no further attempt.
                if failure?.code == .networkNotRetried, let last { return try last.get() }
                result = .failure(error)
                // An executor that reports no progress was silent for the whole time.
                let mayHelp = failure.map { $0.isConnectivity && !(isSilent && $0.code == .networkTimeout) }
                delay = mayHelp == true ? policy.backoff(after: number, random: retries.random()) : nil
            }
            guard let delay, policy.allows(request, after: number) else { return try result.get() }
            try await retries.clock.pause(for: delay)
            (last, number) = (result, number + 1)
        }
    }

    private func attempt(
        _ number: Int, within limit: Duration, _ sent: inout Int64
    ) async throws -> (TransferTable.Outcome, status: Int, HTTPHeaders) {
        let clock = retries.clock, last = Mutex((time: clock.moment, sent: sent))
        defer { sent = last.withLock { $0.sent } }
        var exchange = exchangeOptions(attempt: number)
        exchange.progress = { [report] progress in
            let before = last.withLock { last in
                defer { last = (clock.moment, progress.sent) }
                return last.sent
            }
            if progress.sent < before { report(.restarted(.upload)) }
            report(.bytes(progress.sent, of: progress.toSend))
        }
        let (request, network, given) = (transfer.request, network, exchange)
        let late = HTTPFailure.late("took and sent nothing", limit: limit).error(for: request)
        return try await Race.run(by: clock) {
            let response = try await network.open(request, given)
            var kept: [UInt8] = []
            for try await chunk in response.body {
                kept += chunk.prefix(Self.responseLimit - kept.count)
                if kept.count == Self.responseLimit { break }
            }
            response.body.cancel()
            return (.uploaded(status: response.status, response: kept), response.status, response.headers)
        } watchedBy: {
            let end = last.withLock { $0.time } + limit
            return end > clock.moment ? .again(end) : .over(late)
        }
    }
}

extension DispatchQueue {
    /// Runs a function that waits for a disk on a thread of the queue.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable () throws(BackplaneError) -> Value
    ) async throws(BackplaneError) -> Value {
        let result: Result<Value, BackplaneError> = await withCheckedContinuation { continuation in
            self.async {
                continuation.resume(returning: Result { () throws(BackplaneError) in try work() })
            }
        }
        return try result.get()
    }
}
