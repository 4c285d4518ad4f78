public import Backplane

/// The times of a component's encoded calls, from the request to the answer.
public struct LatencyStatistics: Sendable, Hashable {
    /// The number of calls that have ended.
    public var calls: Int
    /// The time that half of the calls did not exceed, at most a quarter too long.
    public var median: Duration
    /// The time that 99 of 100 calls did not exceed, at most a quarter too long.
    public var percentile99: Duration
    /// The time of the longest call.
    public var longest: Duration

    package init(calls: Int, median: Duration, percentile99: Duration, longest: Duration) {
        (self.calls, self.median, self.percentile99, self.longest) = (calls, median, percentile99, longest)
    }
}

/// The last error of a component's calls and streams.
public struct FailureStatistics: Sendable, Hashable {
    /// The error as its caller received it.
    public var error: BackplaneError
    /// The time of the error, in seconds since 1970.
    public var time: Double

    package init(_ error: BackplaneError, at time: Double) { (self.error, self.time) = (error, time) }
}
