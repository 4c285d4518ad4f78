public import Backplane

/// The host's HTTP client for communication controllers and network services: `context.http`.
///
/// All plugins share one client, whose connections and limits are the host's.
public struct HTTPClient: Sendable {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Parameter call: The call being served, whose deadline applies to the request.
    /// - Throws: `network.failed`, `network.refused` or `network.too-large` if there is no response; `call.deadline`;
    ///   `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    public func send(_ request: HTTPRequest, _ call: Call) async throws(BackplaneError) -> HTTPResponse {
        try await HTTPExchange(services).run(request, call)
    }
}

extension MayUseNetwork {
    /// The host's HTTP client.
    public var http: HTTPClient { HTTPClient(services) }
}
