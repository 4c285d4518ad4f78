public import Backplane

/// The host's HTTP as a communication controller or a network service uses it: `context.http`.
///
/// One client for all plugins: its connections and limits are the host's.
public struct HTTPClient: Sendable {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    /// Carries a request out; any status is a response.
    ///
    /// - Throws: `network.failed` and its like when there is no response; `call.deadline`, `call.cancelled`, `role.forbidden`,
    ///   `call.retired` once the component has stopped.
    public func send(_ request: HTTPRequest, _ call: Call) async throws(BackplaneError) -> HTTPResponse {
        try await HTTPExchange(services).run(request, call)
    }
}

extension MayUseNetwork {
    /// The host's HTTP.
    public var http: HTTPClient { HTTPClient(services) }
}
