public import Backplane

/// The host's HTTP client for communication controllers and network services: `context.http`.
///
/// ```swift
/// let response = try await context.http.send(HTTPRequest("GET", url), call)
/// try await context.http.download(HTTPRequest("GET", url), to: "whale.epub", call)
/// ```
///
/// All plugins share one client with the host's connections and limits. The deadline of the call being served applies
/// to its exchanges, and cancelling the call ends them. Outside any call, pass `context.begin()`; such an exchange ends
/// with `call.retired` when the component stops or a swap replaces it.
public struct HTTPClient: Sendable {
    /// The settings for endpoints, which apply to `load` but not to `send`, `open` and `download`.
    public var defaults = EndpointDefaults()
    package let way: any HTTPWay

    package init(_ way: any HTTPWay) { self.way = way }

    /// Returns this client with a base URL, to which the paths of endpoints are relative.
    public func relative(to baseURL: String) -> HTTPClient {
        var client = self
        client.defaults.baseURL = baseURL
        return client
    }

    /// Sends a request and returns the response with its body in memory, regardless of its status.
    ///
    /// - Parameters:
    ///   - request: The request. A body that is a stream or a file outside the component's folder is read here while it
    ///     is sent; a file in the folder is read by the host.
    ///   - limit: The maximum number of bytes of the response's body.
    ///   - call: The call being served, whose deadline applies to the exchange.
    ///   - options: The options of the exchange.
    /// - Throws: `network.failed`, `network.refused`, `network.timeout` or `network.too-large` if there is no response;
    ///   `network.body` if the request's body cannot be read; `network.unsupported` before anything is sent;
    ///   `call.deadline`; `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    public func send(
        _ request: HTTPRequest, upTo limit: Int = HTTPOptions.collectionLimit, _ call: Call,
        _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPResponse {
        try await way.send(request, upTo: limit, call, options)
    }

    /// Sends a request and returns once the head of the response has arrived, regardless of its status.
    ///
    /// The body is received as it is read. The exchange ends if the response is released before its end or is not read
    /// for a minute.
    ///
    /// - Throws: The errors of ``send(_:upTo:_:_:)``; `host.interface-missing` if the host cannot stream.
    public func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        try await way.open(request, call, options)
    }

    /// Sends a request, and has the host write the response's body to a file in the component's folder.
    ///
    /// The bytes do not pass through the plugin. The file appears once it is complete; `context.stored(_:)` turns it
    /// into a `StoredFile`, which a data access controller can adopt.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - path: The path of the file: relative to the component's folder, or absolute and in it. An existing file is
    ///     replaced.
    ///   - call: The call being served, whose deadline applies to the exchange.
    ///   - options: The options of the exchange.
    /// - Returns: The response without its body.
    /// - Throws: The errors of ``open(_:_:_:)``; `network.refused` for a path that escapes the folder; `network.file`
    ///   if the file cannot be written.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPResponse {
        try await way.download(request, to: path, call, options)
    }
}

extension MayUseNetwork {
    /// The host's HTTP client.
    public var http: HTTPClient { HTTPClient(ComponentWay(services)) }
}

extension ManagerContext where Owner: Component {
    /// Unavailable: a manager has no access to HTTP.
    @available(
        *, unavailable,
        message: "a manager cannot use HTTP: call its communication controller through a wire"
    )
    @_documentation(visibility: internal)
    public var http: HTTPClient { HTTPClient(ComponentWay(services)) }
}

// Only data access controllers use the store.
extension MayUseStore {
    /// Unavailable: a data access controller has no access to HTTP.
    @available(
        *, unavailable,
        message: "a data access controller cannot use HTTP: only its manager's communication controller can"
    )
    @_documentation(visibility: internal)
    public var http: HTTPClient { HTTPClient(ComponentWay(services)) }
}
