public import BackplaneExchange
public import BackplaneNetwork

/// The settings of a host's network in a manifest.
public struct NetworkSettings: Sendable, Hashable {
    /// The managers that carry out exchanges, by the URL scheme that they serve, which is also their name in options.
    public var executors: [String: String]
    /// The settings of TLS by host name, in lower case; paths are relative to the manifest's folder.
    public var tls: [String: TLSSettings]
    /// The names of the hosts to which the trace of a call is sent, as the header field `traceparent`.
    public var traced: [String]
    /// The credentials that requests may choose, by name.
    public var credentials: [String: Credential]
    /// The managers that filter exchanges, in the order in which they run.
    public var filters: [NetworkFilter]
    /// The managers that observe exchanges.
    public var observers: [String]
    /// The managers that map responses of definitions, by the names of serializers in definitions.
    public var serializers: [String: String]

    /// Creates settings, which are empty by default.
    public init(
        executors: [String: String] = [:], tls: [String: TLSSettings] = [:], traced: [String] = [],
        filters: [NetworkFilter] = [], observers: [String] = [], credentials: [String: Credential] = [:],
        serializers: [String: String] = [:]
    ) {
        (self.executors, self.tls, self.traced) = (executors, tls, traced)
        (self.filters, self.observers, self.credentials) = (filters, observers, credentials)
        self.serializers = serializers
    }

    /// The managers that take part in exchanges.
    var managers: Set<String> {
        Set(executors.values).union(filters.map(\.manager)).union(observers).union(authenticators)
            .union(serializers.values)
    }

    /// The authenticating managers, sorted.
    var authenticators: [String] {
        Set(
            credentials.values.compactMap { credential -> String? in
                if case .component(let manager, _) = credential.scheme { manager } else { nil }
            }
        ).sorted()
    }
}

/// A manager that filters exchanges.
public struct NetworkFilter: Sendable, Hashable {
    /// The manager's name.
    public var manager: String
    /// The names of the hosts whose exchanges are filtered; empty for every host.
    public var hosts: [String]

    /// Creates a filter, by default for every host.
    public init(_ manager: String, hosts: [String] = []) { (self.manager, self.hosts) = (manager, hosts) }
}

extension Manifest {
    /// The managers that map responses of definitions, and all those that they use.
    var serializingManagers: Set<String> {
        var found: Set<String> = [], waiting = Array(network.serializers.values)
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += managers[name].map { Array($0.uses.values) } ?? [] }
        }
        return found
    }
}
