/// The limits on one client, and on all of them together, so that none can block the others.
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
    /// The number of additional places for each kind of recovery request, such as a rollback.
    var reserved = 2
    /// The number of requests of each kind that lasts as long as its client wants.
    var lasting = 64
    /// The time that a further request waits for a place.
    var waiting = Duration.seconds(2)
    /// The maximum number of waiting requests, from which recovery requests are exempt.
    var queue = 64
    /// The tolerated number of abandoned calls, each of which occupies a thread because its plugin does not return.
    var strays = 64
}
