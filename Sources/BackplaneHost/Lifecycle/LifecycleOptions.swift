import Backplane

/// The options for starting, connecting and stopping components.
struct LifecycleOptions: Sendable {
    var loading: LoadingOptions
    var log: any LogSink
    /// The lanes that calls may take.
    var lanes: LaneRule
    /// The way in which calls are counted.
    var counting: LeaseCounting
    /// The time limit for starting a component.
    var startLimit: Duration
    /// The time limit for a component to end its calls, and again to stop.
    var stopLimit: Duration
    /// The time limit for the use of the host's services to end, before and again after `suspend`.
    var servicesLimit: Duration
    /// The time for which a component may leave a response unread.
    var exchangeIdleLimit: Duration
    /// The maximum number of calls that wait for one component while it is swapped or restarted.
    var waitingLimit: Int
}
