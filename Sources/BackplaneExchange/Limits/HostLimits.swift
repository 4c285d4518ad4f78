import BackplaneNetwork

/// The limits for the requests to one host.
///
/// ```swift
/// let network = HTTPPipeline([executor], limits: ["books.example.org": HostLimits(concurrent: 4, perSecond: 10)])
/// ```
///
/// Numbers are clamped to their ranges: at least one request, failure or probe, and times up to 1,000,000,000 seconds.
public struct HostLimits: Sendable, Hashable {
    /// The maximum number of exchanges at one time, each until the end of its response's body; `nil` means no limit.
    public var concurrent: Int?
    /// The number of requests per second in the long run; `nil` means no limit.
    public var perSecond: Double?
    /// The maximum number of requests that ``perSecond`` permits at once, after a time without any.
    public var burst: Int
    /// The maximum number of requests that wait for their turn.
    public var waiting: Int
    /// The circuit breaker; `nil` means that requests are sent however many have failed.
    public var breaker: Breaker?
    /// The maximum number of bytes of a response's body, after decoding; `nil` means only that of its options.
    public var maximumBodySize: Int?

    /// Creates limits; any that are not specified do not exist.
    public init(
        concurrent: Int? = nil, perSecond: Double? = nil, burst: Int = 1, waiting: Int = 1_000,
        breaker: Breaker? = nil, maximumBodySize: Int? = nil
    ) {
        (self.concurrent, self.perSecond, self.burst, self.waiting) = (concurrent, perSecond, burst, waiting)
        (self.breaker, self.maximumBodySize) = (breaker, maximumBodySize)
    }

    /// The conditions under which a host that fails is left alone for a time.
    ///
    /// A failure is an attempt without a response, because of `network.failed` or a time limit, or one with the status
    /// 500, 502, 503 or 504. A cancelled attempt and other errors are neither failures nor successes.
    public struct Breaker: Sendable, Hashable {
        /// The number of failures in a row, without a success among them, after which requests are refused.
        public var failures: Int
        /// The time for which they are refused.
        public var openFor: Duration
        /// The number of requests that are then sent, all of which have to succeed before others follow.
        public var probes: Int

        /// Creates the conditions.
        public init(failures: Int = 5, openFor: Duration = .seconds(30), probes: Int = 1) {
            (self.failures, self.openFor, self.probes) = (failures, openFor, probes)
        }
    }
}

extension HostLimits {
    /// The limits with all numbers in their ranges.
    var bounded: HostLimits {
        var bounded = self
        bounded.concurrent = concurrent.map { max(1, $0) }
        bounded.perSecond = perSecond.map { $0.isNaN ? 1 : min(max($0, 0.001), 1e6) }
        (bounded.burst, bounded.waiting) = (min(max(1, burst), 1_000_000), max(0, waiting))
        bounded.maximumBodySize = maximumBodySize.map { max(1, $0) }
        guard let breaker else { return bounded }
        bounded.breaker = Breaker(
            failures: max(1, breaker.failures), openFor: min(max(.zero, breaker.openFor), .longest),
            probes: max(1, breaker.probes))
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
    /// The time until an open breaker lets the next request through; `nil` for any other.
    public var nextProbe: Duration?
}
