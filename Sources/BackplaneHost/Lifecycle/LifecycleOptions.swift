import Backplane

/// The options of the room that starts, connects and stops components.
struct LifecycleOptions: Sendable {
    var loading: LoadingOptions
    var log: any LogSink
    /// Which lane calls may take, and how they are counted.
    var lanes: LaneRule
    var counting: LeaseCounting
    /// How long one component may take to start.
    var startLimit: Duration
    /// How long one component may take to end its calls, and then to stop.
    var stopLimit: Duration
}
