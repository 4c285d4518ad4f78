public import Backplane

extension HTTPClient {
    /// Loads an endpoint: sends its request, checks the status, decodes the response and applies the endpoint's check.
    ///
    /// Cancelling the task cancels the exchange.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - call: The call being served, whose deadline applies to all attempts.
    ///   - progress: A function that is called in order with the progress of both bodies; it must not block.
    /// - Throws: `network.invalid-request`; the errors of ``send(_:upTo:_:_:)``; `network.redirect`; `network.status`,
    ///   `network.empty`, `network.unparsable` and `network.rejected` for a response that does not meet the endpoint's
    ///   expectations; the errors of interceptors.
    public func load<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) async throws(BackplaneError) -> Response {
        try await loadWithResponse(endpoint, call, progress: progress).value
    }

    /// Loads an endpoint, and returns its value together with the response, which has no body.
    ///
    /// - Throws: The errors of ``load(_:_:progress:)``.
    public func loadWithResponse<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) async throws(BackplaneError) -> (value: Response, response: HTTPResponse) {
        do {
            return try await EndpointRun(endpoint, on: self, call, progress).run()
        } catch {
            throw BackplaneError(thrown: error)
        }
    }
}

extension Endpoint {
    /// Starts to load the endpoint, and returns the load, which can be observed and cancelled.
    ///
    /// The load continues even if it is not retained.
    @discardableResult
    public func load(on http: HTTPClient, _ call: Call) -> EndpointLoad<Response> {
        EndpointLoad { progress throws(BackplaneError) in try await http.load(self, call, progress: progress) }
    }
}
