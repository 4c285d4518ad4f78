/// The durations of an exchange's phases.
public struct HTTPTimings: Sendable {
    /// The number of attempts, including the one that succeeded.
    public var attempts = 1
    /// The time to connect, if the executor opened a new connection and reports it.
    public var connect: Duration?
    /// The time of the TLS handshake, if the executor performed one and reports it.
    public var secure: Duration?
    /// The time from the start of the exchange to the head of the response.
    public var head: Duration?
    /// The time from the head to the end of the body.
    public var body: Duration?

    /// Creates timings without any values.
    public init() {}
}
