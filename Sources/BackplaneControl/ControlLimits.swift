/// What one client may take of a host, so that none keeps others from it.
struct ControlLimits: Sendable {
    /// Bytes of a request.
    var request = ControlProtocol.requestLimit
    /// How long a request may take to arrive.
    var reading = Duration.seconds(10)
    /// How long an answer may take to be taken.
    var writing = ControlProtocol.writingLimit
    /// How many requests are answered at the same time.
    var connections = 16
    /// How long another one waits for a place among them.
    var waiting = Duration.seconds(2)
    /// How many calls that were given up may still keep a thread each, since their plugins do not return.
    var strays = 64
}
