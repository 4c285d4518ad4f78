public import Backplane
public import BackplaneNetwork

extension WebServiceMethod {
    /// Calls the method, and returns its decoded or raw response.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, in the order of the definition's indicators.
    ///   - call: The call being served; `nil` outside any call.
    /// - Throws: `definition.unknown-method`, `definition.arguments` and `definition.wrong-model`, before anything is
    ///   sent; the errors of `HTTPClient.load(_:_:progress:)`.
    public func callAsFunction<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) async throws(BackplaneError) -> Response {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(of: service, Response.self), call ?? Call())
    }

    /// Calls the method, and returns a response that parses itself, such as `HTTPResponse`.
    public func callAsFunction<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) async throws(BackplaneError) -> Response {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(of: service, Response.self), call ?? Call())
    }

    /// Starts a call of the method, and returns the load, which can be watched and cancelled.
    ///
    /// - Throws: The errors that a call throws before anything is sent.
    public func load<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) throws(BackplaneError) -> EndpointLoad<Response> {
        let prepared = try prepared(arguments)
        return try prepared.endpoint(of: service, Response.self).load(on: prepared.client, call ?? Call())
    }

    /// Starts a call of the method whose response parses itself, and returns the load.
    public func load<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) throws(BackplaneError) -> EndpointLoad<Response> {
        let prepared = try prepared(arguments)
        return try prepared.endpoint(of: service, Response.self).load(on: prepared.client, call ?? Call())
    }

    /// Calls the method, and writes its response to a file.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, in the order of the definition's indicators.
    ///   - file: The path of the file, inside a component relative to its folder; an existing one is replaced.
    ///   - call: The call being served; `nil` outside any call.
    /// - Throws: The errors of other calls; `network.file` if the file cannot be written.
    public func download(
        _ arguments: (any Encodable & Sendable)?..., to file: String, call: Call? = nil
    ) async throws(BackplaneError) -> DownloadedFile {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(to: file), call ?? Call())
    }

    /// Returns the endpoint of a call, to modify it or to load its pages with the service's client.
    ///
    /// - Throws: The errors that a call throws before anything is sent.
    public func endpoint<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., as type: Response.Type = Response.self
    ) throws(BackplaneError) -> Endpoint<Response> {
        try prepared(arguments).endpoint(of: service, type)
    }

    /// Returns the endpoint of a call whose response parses itself.
    public func endpoint<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., as type: Response.Type = Response.self
    ) throws(BackplaneError) -> Endpoint<Response> {
        try prepared(arguments).endpoint(of: service, type)
    }
}
