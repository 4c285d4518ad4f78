/// The limits on one client, so that none can keep others from a host.
struct ControlLimits: Sendable {
    /// The maximum size of a request, in bytes.
    var request = ControlProtocol.requestLimit
    /// The time that a request may take to arrive.
    var reading = Duration.seconds(10)
    /// The time that a client may take to read an answer.
    var writing = ControlProtocol.writingLimit
    /// The number of requests that are answered concurrently.
    var connections = 16
    /// The time that a further request waits for one of those to end.
    var waiting = Duration.seconds(2)
    /// The number of abandoned calls, each occupying a thread since its plugin does not return, that are tolerated.
    var strays = 64
}
