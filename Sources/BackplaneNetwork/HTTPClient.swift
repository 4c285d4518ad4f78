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
    ///   - request: The request. The plugin reads a body that is a stream or a file outside the component's folder
    ///     while it is sent; the host reads a file in the folder.
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
    /// The body is received as it is read. The exchange ends if the response is released before the end of its body, or
    /// is not read for a minute.
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

extension HTTPClient {
    /// Signs in an account of a credential, and replaces an account of the same name.
    ///
    /// ```swift
    /// try await http.signIn("library", as: "ann", with: ["reader": "ann", "password": password], call)
    /// options.credential = "library"
    /// options.account = "ann"
    /// ```
    ///
    /// The host stores the account for all components that may use the credential, across swaps. For a bearer token, it
    /// does not store the values.
    ///
    /// - Returns: The principal: an opaque number that changes with each sign-in.
    /// - Throws: `network.credential` if the credential does not exist, is not for this component, or requires other
    ///   values; `network.sign-in` if the server returns no token; other codes of the network; `call.deadline`;
    ///   `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    @discardableResult
    public func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        try await way.signIn(credential, as: account, with: values, call)
    }

    /// Signs out an account of a credential, for all components; does nothing if it is not signed in.
    ///
    /// - Throws: `network.credential` if the credential does not exist or is not for this component; `network.file` if
    ///   the stored token cannot be removed; `role.forbidden`; `call.retired`.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try way.signOut(credential, account: account)
    }
}

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
        try await EndpointRun(endpoint, on: self, call, progress).run()
    }
}

extension Endpoint {
    /// Starts to load the endpoint, and returns the load, which can be observed and cancelled.
    ///
    /// The load continues even if it is not retained.
    @discardableResult
    public func load(on http: HTTPClient, _ call: Call) -> EndpointLoad<Response> {
        EndpointLoad(event(.random(in: 1..<(1 << 53)), http.defaults, call)) {
            number, progress throws(BackplaneError) in
            try await EndpointRun(self, on: http, call, progress, number: number).run().value
        }
    }

    func event(_ number: UInt64, _ defaults: EndpointDefaults, _ call: Call) -> ExchangeEvent {
        let request = try? request(defaults)
        return ExchangeEvent(
            exchange: number, endpoint: title, method: request?.method ?? method,
            url: request?.printableURL ?? place, trace: call.trace?.id)
    }

    /// The name of the endpoint; without a name, the method and the path without its query.
    package var title: String { name ?? "\(method) \(place)" }

    private var place: String {
        let address = EndpointURL.hasScheme(path) ? HTTPRequest(method, path).printableURL : path
        return String(address.prefix { $0 != "?" && $0 != "#" })
    }
}

/// The transport of a client's exchanges: through the boundary to the host, or through the program's own pipeline.
package protocol HTTPWay: Sendable {
    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse

    func open(_ request: HTTPRequest, _ call: Call, _ options: HTTPOptions) async throws(BackplaneError)
        -> HTTPStreamedResponse

    /// Returns a fresh response from the memory of this process; `nil` without one, or if the exchange is observed.
    func remembered(_ request: HTTPRequest, _ call: Call, _ options: HTTPOptions) -> RememberedResponse?

    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse

    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64

    func signOut(_ credential: String, account: String) throws(BackplaneError)

    func file(_ path: String) -> String

    /// The folder of the sending component; `nil` for a program, or a component without a folder.
    var folder: String? { get }

    var clock: any DeadlineClock { get }

    func log(_ message: String, _ metadata: [String: String], _ call: Call)
}

extension HTTPWay {
    package var folder: String? { nil }
    package var clock: any DeadlineClock { Alarms.shared }

    package func remembered(_ request: HTTPRequest, _ call: Call, _ options: HTTPOptions) -> RememberedResponse? { nil }
}
