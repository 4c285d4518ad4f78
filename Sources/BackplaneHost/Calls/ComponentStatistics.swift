public import Backplane

/// The call counts of a component since it, or its first predecessor, started.
public struct ComponentStatistics: Codable, Sendable, Hashable {
    /// The manager's name in the manifest, or the class name of any other component.
    public var component: String
    /// The component's role in words, such as `manager` or `network service`.
    public var role: String
    /// The managers whose definitions contain the component.
    public var managers: [String]
    /// The id of the plugin that provides the component.
    public var plugin: String
    /// The generation of the plugin whose code runs.
    public var generation: Int
    /// The number of calls that were started.
    public var calls: Int
    /// The number of those calls that failed, not including cancelled ones.
    public var errors: Int
    /// The number of calls in flight.
    public var inFlight: Int
    /// The number of calls that are waiting for a change to end.
    public var waiting: Int
    /// The counts of the streams that others read from the component.
    public var streams: StreamStatistics
    /// The component's timers, in the order in which they were added, limited to ``timersShown``.
    public var timers: [TimerStatistics]
    /// The total number of the component's timers.
    public var timerCount: Int
    /// The component's exchanges over HTTP.
    public var exchanges: ExchangeStatistics
    /// The times of the encoded calls to the current instance; `nil` if there were none.
    public var latency: LatencyStatistics?
    /// The last error of calls and streams; `nil` if there was none.
    public var lastFailure: FailureStatistics?

    /// The maximum number of one component's timers that ``timers`` contains.
    public static let timersShown = 100
}

/// The times of a component's encoded calls, from the request to the answer.
public struct LatencyStatistics: Codable, Sendable, Hashable {
    /// The number of calls that have ended.
    public var calls: Int
    /// The time that half of the calls did not exceed, at most a quarter too long.
    public var median: Duration
    /// The time that 99 of 100 calls did not exceed, at most a quarter too long.
    public var percentile99: Duration
    /// The time of the longest call.
    public var longest: Duration
}

/// The last error of a component's calls and streams.
public struct FailureStatistics: Codable, Sendable, Hashable {
    /// The error as its caller received it, but without confidential details.
    public var error: BackplaneError
    /// The time of the error, in seconds since 1970.
    public var time: Double

    package init(_ error: BackplaneError, at time: Double) { (self.error, self.time) = (error.shown, time) }
}

/// The counts of a component's streams.
public struct StreamStatistics: Codable, Sendable, Hashable {
    /// The number of streams whose bodies have not returned.
    public var open = 0
    /// The number of streams that were opened.
    public var opened = 0
    /// The number of elements that consumers have taken.
    public var elements = 0
}

/// A timer of a component, and the counts of its bodies since the instance was created.
public struct TimerStatistics: Codable, Sendable, Hashable {
    /// The timer's name, unique in its component.
    public var name: String
    /// The time between two bodies, or `nil` if there is only one.
    public var period: Duration?
    /// The time until the next body; `nil` if none is due because the component is not serving or the last body is
    /// running.
    public var next: Duration?
    /// The number of bodies that were started.
    public var runs: Int
    /// The number of failed bodies, not including cancelled ones.
    public var failures: Int
    /// A Boolean value that indicates whether a body is running.
    public var isRunning: Bool
}

/// The counts of a component's HTTP exchanges since it, or its first predecessor, started.
public struct ExchangeStatistics: Codable, Sendable, Hashable {
    /// The number of exchanges that were started.
    public var begun: Int
    /// The number of those exchanges that ended with an error, not including cancelled ones.
    public var failed: Int
    /// The number of exchanges in flight.
    public var inFlight: Int
    /// The number of bytes of request bodies that were sent.
    public var sent: Int
    /// The number of bytes of response bodies that were received, after decoding.
    public var received: Int

    package init(begun: Int = 0, failed: Int = 0, inFlight: Int = 0, sent: Int = 0, received: Int = 0) {
        (self.begun, self.failed, self.inFlight, self.sent, self.received) = (begun, failed, inFlight, sent, received)
    }

    /// Returns the sums of two counts.
    package static func + (a: Self, b: Self) -> Self {
        Self(
            begun: a.begun + b.begun, failed: a.failed + b.failed, inFlight: a.inFlight + b.inFlight,
            sent: a.sent + b.sent, received: a.received + b.received)
    }
}
