public import Backplane
import CBackplane

/// The host's HTTP client for communication controllers and network services: `context.http`.
///
/// ```swift
/// let response = try await context.http.send(HTTPRequest("GET", url), call)
/// try await context.http.download(HTTPRequest("GET", url), to: "whale.epub", call)
/// ```
///
/// All plugins share one client, whose connections and limits are the host's. The deadline of the call that is being
/// served applies to its exchanges, and cancelling it ends them. Outside of any call, pass `context.begin()`: such an
/// exchange ends with `call.retired` when the component stops or a swap replaces it.
public struct HTTPClient: Sendable {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    /// Sends a request and returns the response with its body in memory, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request. A body that is a stream or a file outside the component's folder is read here while
    ///     it is sent; a file in the folder is read by the host.
    ///   - limit: The greatest number of bytes of the response's body.
    ///   - call: The call being served, whose deadline applies to the exchange.
    ///   - options: The options of the exchange.
    /// - Throws: `network.failed`, `network.refused`, `network.timeout` or `network.too-large` if there is no response;
    ///   `network.body` if the request's body cannot be read; `network.unsupported` before anything is sent;
    ///   `call.deadline`; `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    public func send(
        _ request: HTTPRequest, upTo limit: Int = HTTPOptions.collectionLimit, _ call: Call,
        _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPResponse {
        // Whole bodies without options cross at once.
        if options.isPlain, limit == HTTPOptions.collectionLimit, request.body.bytes != nil || table == nil {
            return try await HTTPExchange(services).run(request, call)
        }
        var options = options
        options.maximumBodySize = Swift.min(limit, options.maximumBodySize ?? limit)
        let response = try await open(request, call, options)
        do {
            return try await response.collect(upTo: limit)
        } catch {
            throw .exchangeFailed(error, request)
        }
    }

    /// Sends a request and returns once the head of the response is there, whatever its status.
    ///
    /// The body is received as it is read. Releasing the response before its end ends the exchange, and so does not
    /// reading it for a minute.
    ///
    /// - Throws: What ``send(_:upTo:_:_:)`` throws; `host.interface-missing` if the host cannot stream.
    public func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        let exchange = StreamedExchange(try requireTable(), component: services.handle, options, waitsForEnd: false)
        let head = try await begin(exchange, request, download: "", call)
        var response = HTTPStreamedResponse(
            status: head.response.status, headers: head.response.headers, version: head.version,
            body: exchange.body(of: head))
        response.timings = head.response.timings
        return response
    }

    /// Sends a request, and has the host write the response's body to a file of the component's folder.
    ///
    /// The bytes do not pass through the plugin. The file appears once it is complete; `context.stored(_:)` makes it a
    /// `StoredFile`, which a data access controller adopts.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - path: The path of the file: relative to the component's folder, or absolute and in it. An existing file is
    ///     replaced.
    ///   - call: The call being served, whose deadline applies to the exchange.
    ///   - options: The options of the exchange.
    /// - Returns: The response without its body.
    /// - Throws: What ``open(_:_:_:)`` throws; `network.refused` for a path that leads out of the folder;
    ///   `network.failed` if the file cannot be written.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions = HTTPOptions()
    ) async throws(BackplaneError) -> HTTPResponse {
        guard !path.isEmpty else {
            throw BackplaneError(.networkRefused, "the path of the file to download to is empty; give it a name")
        }
        let exchange = StreamedExchange(try requireTable(), component: services.handle, options, waitsForEnd: true)
        return try await begin(exchange, request, download: path, call).response
    }

    private var table: ConstantPointer<bp_http_2>? { services.host.table(BP_HTTP, revision: 2, as: bp_http_2.self) }

    private func requireTable() throws(BackplaneError) -> ConstantPointer<bp_http_2> {
        if let table { return table }
        throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_HTTP)/2, which streams; use a newer one")
    }

    private func begin(_ exchange: StreamedExchange, _ request: HTTPRequest, download: String, _ call: Call)
        async throws(BackplaneError) -> StreamedExchange.Head
    {
        let request = request.withMediaType
        if request.body.bytes != nil {
            return try await exchange.open(request, nil, upload: "", download: download, call)
        }
        if let path = request.body.file, !services.folder.isEmpty, path.hasPrefix(services.folder + "/") {
            return try await exchange.open(request, nil, upload: path, download: download, call)
        }
        let source: BodySource
        do { source = try BodySource(request.body) } catch { throw .exchangeFailed(error, request) }
        return try await exchange.open(request, source, upload: "", download: download, call)
    }
}

extension MayUseNetwork {
    /// The host's HTTP client.
    public var http: HTTPClient { HTTPClient(services) }
}

extension HTTPRequest {
    /// The request with its body's media type among its fields.
    var withMediaType: HTTPRequest {
        guard let type = body.mediaType, headers["Content-Type"] == nil else { return self }
        var request = self
        request.headers.add("Content-Type", type)
        return request
    }
}

extension BackplaneError {
    /// Returns the error of an exchange whose bodies threw something.
    fileprivate static func exchangeFailed(_ error: any Error, _ request: HTTPRequest) -> BackplaneError {
        switch error {
        case let error as BackplaneError: error
        case is CancellationError: BackplaneError(.callCancelled, "the exchange was cancelled")
        default: BackplaneError(.networkBody, "the request's body failed: \(error)", at: request.printableURL)
        }
    }
}
