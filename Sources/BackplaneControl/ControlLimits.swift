/// The limits on one client, and on all of them together, so that none can block the others.
struct ControlLimits: Sendable {
    /// The maximum size of a request, in bytes.
    var request = ControlProtocol.requestLimit
    /// The maximum size of all requests together, in bytes, not counting the first chunk of each.
    var memory = ControlProtocol.requestLimit * 3 / 2
    /// The size of a request's first chunk, for which memory is always available.
    var beginning = ControlProtocol.chunk
    /// The time within which a request must arrive.
    var reading = Duration.seconds(10)
    /// The time within which a client must read an answer, unless it is a lasting one.
    var writing = ControlProtocol.writingLimit
    /// The time within which a client must read each line of a lasting answer, which a user may be viewing.
    var element = Duration.seconds(600)
    /// The maximum number of connections; an additional one closes the oldest that has not sent its request.
    var clients = 256
    /// The maximum number of requests that are answered concurrently.
    var connections = 16
    /// The number of additional permits for each kind of recovery request, such as a rollback.
    var reserved = 2
    /// The maximum number of concurrent requests of each kind whose duration the client determines.
    var lasting = 64
    /// The time for which an additional request waits for a permit.
    var waiting = Duration.seconds(2)
    /// The maximum number of waiting requests, from which recovery requests are exempt.
    var queue = 64
    /// The maximum number of abandoned calls, each of which occupies a thread because its plugin does not return.
    var strays = 64
}
