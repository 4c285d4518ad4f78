public import BackplaneExchange
public import BackplaneNetwork

/// The settings of a host's network in a manifest.
public struct NetworkSettings: Sendable, Hashable {
    /// The managers that carry out exchanges, by the URL scheme that they serve, which is also their name in options.
    public var executors: [String: String]
    /// The settings of TLS by host name, in lower case; paths are relative to the manifest's folder.
    public var tls: [String: TLSSettings]
    /// The names of the hosts that the trace of a call is sent to, as the header field `traceparent`.
    public var traced: [String]
    /// The credentials that requests may choose, by name.
    public var credentials: [String: Credential]

    /// Creates settings, by default none.
    public init(
        executors: [String: String] = [:], tls: [String: TLSSettings] = [:], traced: [String] = [],
        credentials: [String: Credential] = [:]
    ) {
        (self.executors, self.tls, self.traced, self.credentials) = (executors, tls, traced, credentials)
    }
}
