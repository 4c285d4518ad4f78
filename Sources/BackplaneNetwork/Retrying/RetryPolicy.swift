package import Backplane
package import FoundationEssentials

/// The policy for retrying an exchange: bounded exponential backoff with full jitter.
///
/// A request is repeated only if its method is idempotent (RFC 9110, section 9.2.2) or ``repeatsAnyMethod``, and its
/// body can be resent. The decision is a pure function; the pipeline has the clock and the budget.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first one.
    public var attempts = 3
    /// The bound of the delay before the second attempt, which doubles with each further attempt.
    public var base: Duration = .milliseconds(200)
    /// The maximum bound of a delay.
    public var limit: Duration = .seconds(10)
    /// The maximum `Retry-After` that is honoured; a response that requests more is the result.
    public var retryAfterLimit: Duration = .seconds(60)
    /// The statuses after which another attempt may help.
    public var statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
    /// The time limit of one attempt up to the head of its response; `nil` means only the limits of the exchange.
    public var attemptTimeout: Duration?
    /// A Boolean value that indicates whether requests with any method may be repeated, such as `POST`.
    public var repeatsAnyMethod = false

    /// Creates a policy, by default for three attempts.
    public init(attempts: Int = 3) { self.attempts = attempts }

    /// A single attempt.
    public static var none: RetryPolicy { RetryPolicy(attempts: 1) }
}

extension RetryPolicy {
    /// Returns whether a request may be retried after a number of attempts.
    package func allows(_ request: HTTPRequest, after attempt: Int) -> Bool {
        attempt < attempts && repeats(request.method, request.body)
    }

    /// Returns whether a request with a method and a body may be sent more than once.
    func repeats(_ method: String, _ body: HTTPBody) -> Bool {
        body.isReplayable
            && (repeatsAnyMethod || ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method))
    }

    /// Returns whether another attempt may help after an error.
    package func mayHelp(after error: BackplaneError) -> Bool {
        [.networkFailed, .networkTimeout].contains(error.code)
    }

    /// Returns the delay before the attempt that follows another one: a random part of a bound that doubles.
    ///
    /// - Parameters:
    ///   - attempt: The number of the last attempt, starting at 1.
    ///   - random: A number from 0 up to 1.
    package func backoff(after attempt: Int, random: Double) -> Duration {
        var bound = Swift.min(base, limit)
        for _ in 1..<Swift.max(1, Swift.min(attempt, 64)) where bound < limit { bound = Swift.min(bound * 2, limit) }
        return bound * Swift.min(Swift.max(random, 0), 1)
    }

    /// Returns the delay after a response, or `nil` if it is the result.
    ///
    /// - Parameters:
    ///   - now: The time with which a date in `Retry-After` is compared.
    ///   - random: A number from 0 up to 1.
    package func delay(
        after status: Int, _ headers: HTTPHeaders, attempt: Int, now: Date, random: Double
    ) -> Duration? {
        guard statuses.contains(status) else { return nil }
        let backoff = backoff(after: attempt, random: random)
        guard let asked = headers["Retry-After"].flatMap({ RetryAfter($0)?.delay(from: now) }) else { return backoff }
        return asked <= retryAfterLimit ? Swift.max(asked, backoff) : nil
    }
}
