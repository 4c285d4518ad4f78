import Backplane

/// The options for starting, connecting and stopping components.
struct LifecycleOptions: Sendable {
    var loading: LoadingOptions
    var log: any LogSink
    /// The lanes that calls may take.
    var lanes: LaneRule
    /// The way in which calls are counted.
    var counting: LeaseCounting
    /// The time that one component may take to start.
    var startLimit: Duration
    /// The time that one component may take to end its calls, and again to stop.
    var stopLimit: Duration
    /// The time that the use of the host's services may take to end before, and again after, `suspend`.
    var servicesLimit: Duration
    /// The time that a component may leave a response unread.
    var exchangeIdleLimit: Duration
    /// The number of calls that may wait for one component while it is swapped or restarted.
    var waitingLimit: Int
}
