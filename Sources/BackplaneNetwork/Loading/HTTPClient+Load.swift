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
        try await EndpointRun(endpoint, on: self, call, progress).value
    }
}

extension Endpoint {
    /// Starts to load the endpoint, and returns the load, which can be observed and cancelled.
    ///
    /// The load continues even if it is not retained.
    @discardableResult
    public func load(on http: HTTPClient, _ call: Call) -> EndpointLoad<Response> {
        let event = event(.random(in: 1..<(1 << 53)), http.defaults, call)
        return EndpointLoad(event) { progress throws(BackplaneError) in
            try await EndpointRun(self, on: http, call, progress, number: event.exchange).value
        }
    }

    /// Returns the event of the start of a load.
    func event(_ number: UInt64, _ defaults: EndpointDefaults, _ call: Call) -> ExchangeEvent {
        let place = String(path.prefix { $0 != "?" && $0 != "#" })
        return ExchangeEvent(
            exchange: number, endpoint: name ?? "\(method) \(place)", method: method,
            url: (try? request(defaults))?.printableURL ?? place, trace: call.trace?.id)
    }
}
