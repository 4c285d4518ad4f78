import BackplaneNetwork

/// The limits for the requests to one host.
///
/// ```swift
/// let network = HTTPPipeline([executor], limits: ["books.example.org": HostLimits(concurrent: 4, perSecond: 10)])
/// ```
///
/// Numbers are clamped to their ranges: at least one request, failure or probe, and times up to 1,000,000,000 seconds.
public struct HostLimits: Sendable, Hashable {
    /// The maximum number of concurrent exchanges, each until the end of its response's body; `nil` means no limit.
    public var concurrent: Int?
    /// The number of requests per second in the long run; `nil` means no limit.
    public var perSecond: Double?
    /// The maximum number of requests that ``perSecond`` permits at once after an idle time.
    public var burst: Int
    /// The maximum number of requests that wait for their turn.
    public var waiting: Int
    /// The circuit breaker; `nil` means that requests are sent regardless of failures.
    public var breaker: Breaker?
    /// The maximum number of bytes of a response's body, after decoding; `nil` means only the limit of the request's
    /// options.
    public var maximumBodySize: Int?

    /// Creates limits; a limit that is not specified does not apply.
    public init(
        concurrent: Int? = nil, perSecond: Double? = nil, burst: Int = 1, waiting: Int = 1_000,
        breaker: Breaker? = nil, maximumBodySize: Int? = nil
    ) {
        (self.concurrent, self.perSecond, self.burst, self.waiting) = (concurrent, perSecond, burst, waiting)
        (self.breaker, self.maximumBodySize) = (breaker, maximumBodySize)
    }

    /// The conditions under which requests to a failing host are refused for a time.
    ///
    /// A failure is an attempt with the status 500, 502, 503 or 504, or without a response because of `network.failed`
    /// or a time limit. A cancelled attempt and other errors are neither failures nor successes.
    public struct Breaker: Sendable, Hashable {
        /// The number of consecutive failures after which requests are refused.
        public var failures: Int
        /// The time for which requests are refused.
        public var openFor: Duration
        /// The number of requests that are then sent as probes; all must succeed before other requests follow.
        public var probes: Int

        /// Creates the conditions.
        public init(failures: Int = 5, openFor: Duration = .seconds(30), probes: Int = 1) {
            (self.failures, self.openFor, self.probes) = (failures, openFor, probes)
        }
    }
}

extension HostLimits {
    var bounded: HostLimits {
        var bounded = self
        bounded.concurrent = concurrent.map { max(1, $0) }
        bounded.perSecond = perSecond.map { $0.isNaN ? 1 : min(max($0, 0.001), 1e6) }
        (bounded.burst, bounded.waiting) = (min(max(1, burst), 1_000_000), max(0, waiting))
        bounded.maximumBodySize = maximumBodySize.map { max(1, $0) }
        guard let breaker else { return bounded }
        bounded.breaker = Breaker(
            failures: max(1, breaker.failures), openFor: breaker.openFor.bounded, probes: max(1, breaker.probes))
        return bounded
    }
}

/// The activity of the limits for one host.
public struct LimitStatistics: Codable, Sendable, Hashable {
    /// The host and its port, such as `books.example.org:443`.
    public var host: String
    /// The number of exchanges that have been sent and have not ended.
    public var running: Int
    /// The number of requests that wait for their turn.
    public var waiting: Int
    /// The number of requests that were refused.
    public var refused: Int
    /// The state of the circuit breaker: `closed`, `open` or `half-open`; `nil` if there is none.
    public var breaker: String?
    /// The time until an open breaker lets the next request through; `nil` in any other state.
    public var nextProbe: Duration?
}
