/// The limits on one client, and on all of them together, so that none can keep others from a host.
struct ControlLimits: Sendable {
    /// The maximum size of a request, in bytes.
    var request = ControlProtocol.requestLimit
    /// The maximum size of all requests together, in bytes, except for the beginning of each.
    var memory = ControlProtocol.requestLimit * 3 / 2
    /// The size of a request's beginning, for which there is always memory.
    var beginning = ControlProtocol.chunk
    /// The time that a request may take to arrive.
    var reading = Duration.seconds(10)
    /// The time that a client may take to read an answer.
    var writing = ControlProtocol.writingLimit
    /// The time that a client may take to read an element of a lasting answer, which it may be looking at.
    var element = Duration.seconds(600)
    /// The number of connections; a further one ends the oldest that has not sent its request.
    var clients = 256
    /// The number of requests that are answered concurrently.
    var connections = 16
    /// The number of additional requests of each kind that ends trouble.
    var reserved = 2
    /// The number of requests of each kind that lasts as long as its client wants.
    var lasting = 64
    /// The time that a further request waits for one of those to end.
    var waiting = Duration.seconds(2)
    /// The number of requests that wait; those that end trouble are not counted out.
    var queue = 64
    /// The number of abandoned calls, each occupying a thread since its plugin does not return, that are tolerated.
    var strays = 64
}
