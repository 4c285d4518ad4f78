/// The call counts of a component since it, or its first predecessor, started.
public struct ComponentStatistics: Sendable, Hashable {
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

    package init(
        component: String, role: String, managers: [String], plugin: String, generation: Int, calls: Int, errors: Int,
        inFlight: Int, waiting: Int, streams: StreamStatistics = StreamStatistics(), timers: [TimerStatistics] = [],
        timerCount: Int = 0, exchanges: ExchangeStatistics = ExchangeStatistics(), latency: LatencyStatistics? = nil,
        lastFailure: FailureStatistics? = nil
    ) {
        (self.component, self.role, self.managers, self.plugin, self.generation) = (
            component, role, managers, plugin, generation
        )
        (self.calls, self.errors, self.inFlight, self.waiting) = (calls, errors, inFlight, waiting)
        self.streams = streams
        (self.timers, self.timerCount, self.exchanges) = (timers, timerCount, exchanges)
        (self.latency, self.lastFailure) = (latency, lastFailure)
    }
}
