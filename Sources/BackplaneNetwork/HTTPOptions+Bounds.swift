import Backplane

extension HTTPOptions {
    /// The options with all numbers clamped to the ranges that every transport accepts.
    package var bounded: HTTPOptions {
        var bounded = self
        bounded.totalTimeout = totalTimeout?.bounded
        bounded.headTimeout = headTimeout?.bounded
        bounded.readTimeout = readTimeout?.bounded
        bounded.maximumBodySize = maximumBodySize.map { Swift.max(1, $0) }
        bounded.redirects = Swift.min(Swift.max(0, redirects), Self.mostRedirects)
        bounded.retry = retry?.bounded
        bounded.attempt = Swift.min(Swift.max(1, attempt), RetryPolicy.mostAttempts)
        return bounded
    }

    /// The maximum number of redirects that can be requested.
    package static let mostRedirects = 100
}

extension RetryPolicy {
    /// The policy with all numbers clamped to the ranges that every transport accepts.
    fileprivate var bounded: RetryPolicy {
        var bounded = self
        bounded.attempts = Swift.min(Swift.max(1, attempts), Self.mostAttempts)
        bounded.base = base.bounded
        bounded.limit = limit.bounded
        bounded.retryAfterLimit = retryAfterLimit.bounded
        bounded.attemptTimeout = attemptTimeout?.bounded
        if statuses.contains(where: { !(0...999).contains($0) }) {
            bounded.statuses = statuses.filter { (0...999).contains($0) }
        }
        return bounded
    }

    /// The maximum number of attempts.
    package static let mostAttempts = 1_000_000
}

extension Duration {
    /// The maximum duration of a limit or a delay: about thirty years.
    package static let longest = Duration.seconds(1_000_000_000)

    /// The duration, clamped to the range of limits and delays: neither negative nor longer than the maximum.
    fileprivate var bounded: Duration { Swift.min(Swift.max(.zero, self), .longest) }
}
