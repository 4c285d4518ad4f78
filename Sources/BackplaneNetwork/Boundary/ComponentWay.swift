import Backplane
import CBackplane

/// The transport of a component's exchanges: `backplane.http` of its host.
struct ComponentWay: HTTPWay {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        // Whole bodies without options cross at once.
        if options.isPlain, limit == HTTPOptions.collectionLimit, request.body.bytes != nil || table == nil {
            return try await HTTPExchange(services).run(request, call)
        }
        var options = options.bounded
        options.maximumBodySize = Swift.min(limit, options.maximumBodySize ?? limit)
        let response = try await open(request, call, options)
        do {
            return try await response.collect(upTo: limit)
        } catch {
            throw .exchangeFailed(error, request)
        }
    }

    func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        let exchange = StreamedExchange(
            try requireTable(), component: services.handle, options.bounded, waitsForEnd: false)
        let head = try await begin(exchange, request, download: "", call)
        var response = HTTPStreamedResponse(
            status: head.response.status, headers: head.response.headers, version: head.version,
            body: exchange.body(of: head))
        response.timings = head.response.timings
        return response
    }

    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        guard !path.isEmpty else {
            throw BackplaneError(.networkRefused, "the path of the file to download to is empty; name a file")
        }
        let exchange = StreamedExchange(
            try requireTable(), component: services.handle, options.bounded, waitsForEnd: true)
        return try await begin(exchange, request, download: path, call).response
    }

    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        try await AccountExchange(services).signIn(credential, as: account, with: values, call)
    }

    func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try AccountExchange(services).signOut(credential, account: account)
    }

    var folder: String? { services.folder.isEmpty ? nil : services.folder }

    func file(_ path: String) -> String { path.hasPrefix("/") ? path : services.folder + "/" + path }

    func log(_ message: String, _ metadata: [String: String], _ call: Call) {
        services.log.info(message, metadata: metadata, for: call)
    }

    private var table: ConstantPointer<bp_http_2>? {
        services.host.table(
            BP_HTTP, revision: 2, as: bp_http_2.self, first: MemoryLayout<bp_http_2>.offset(of: \.sign_in)!)
    }

    private func requireTable() throws(BackplaneError) -> ConstantPointer<bp_http_2> {
        if let table { return table }
        throw BackplaneError(
            .interfaceMissing, "this host does not offer \(BP_HTTP)/2, which streaming requires; use a newer host")
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
    /// Returns the error for an exchange whose bodies threw an error.
    fileprivate static func exchangeFailed(_ error: any Error, _ request: HTTPRequest) -> BackplaneError {
        switch error {
        case let error as BackplaneError: error
        case is CancellationError: BackplaneError(.callCancelled, "the exchange was cancelled")
        default: BackplaneError(.networkBody, "the request's body failed: \(error)", at: request.printableURL)
        }
    }
}
