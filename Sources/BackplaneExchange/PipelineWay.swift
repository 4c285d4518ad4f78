public import Backplane
public import BackplaneNetwork
import Glibc

/// The transport of a program without plugins: its own pipeline.
struct PipelineWay: HTTPWay {
    let pipeline: HTTPPipeline
    var clock: any DeadlineClock { pipeline.clock }

    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        try await within(call, options) { options in try await pipeline.send(request, upTo: limit, options) }
    }

    func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        var response = try await within(call, options) { options in try await pipeline.open(request, options) }
        if call.deadline != nil { response.body = limited(response.body, by: call) }
        return response
    }

    func remembered(_ request: HTTPRequest, _ call: Call, _ options: HTTPOptions) -> RememberedResponse? {
        if let left = clock.timeLeft(of: call), left <= .zero { return nil }
        return pipeline.remembered(request, options)
    }

    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        try await within(call, options) { options in try await pipeline.download(request, to: path, options) }
    }

    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        do {
            return try await Race.run(
                by: clock, { try await pipeline.signIn(credential, as: account, with: values) },
                within: clock.timeLeft(of: call) ?? Duration.longest,
                otherwise: BackplaneError.deadlinePassed(before: "the sign-in ended"))
        } catch {
            throw BackplaneError(thrown: error)
        }
    }

    func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try pipeline.signOut(credential, account: account)
    }

    func file(_ path: String) -> String { path }

    func log(_ message: String, _ metadata: [String: String], _ call: Call) {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        let line = Array("\(message)\(pairs.joined())\n".utf8)
        line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func within<Response>(
        _ call: Call, _ options: HTTPOptions, _ exchange: (HTTPOptions) async throws -> Response
    ) async throws(BackplaneError) -> Response {
        var options = options
        options.call = call
        if let left = clock.timeLeft(of: call) {
            guard left > .zero else { throw .deadlinePassed(before: "the exchange began") }
            options.totalTimeout = min(left, options.totalTimeout ?? left)
        }
        do {
            return try await exchange(options)
        } catch {
            throw failure(error, call, before: "there was a response")
        }
    }

    /// Returns a body that ends with `call.deadline` once the call's deadline has passed.
    private func limited(_ body: HTTPBodyStream, by call: Call) -> HTTPBodyStream {
        HTTPBodyStream(length: body.length, cancel: body.cancel) {
            do {
                return try await body.next()
            } catch {
                throw failure(error, call, before: "the body was complete")
            }
        }
    }

    /// Returns the error of an exchange; if the time limit was the call's, the error is `call.deadline`.
    private func failure(
        _ error: any Error, _ call: Call, before event: String
    ) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        guard error.code == .networkTimeout, let left = clock.timeLeft(of: call), left <= .zero else { return error }
        return .deadlinePassed(before: event)
    }
}

extension HTTPClient {
    /// Creates the client of a program without plugins.
    ///
    /// - Parameter pipeline: The pipeline for its exchanges.
    public init(_ pipeline: HTTPPipeline) { self.init(PipelineWay(pipeline: pipeline)) }

    /// Creates the client of a program without plugins, with its own pipeline.
    ///
    /// ```swift
    /// let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: "https://books.example.org/v2")
    /// ```
    public init(_ executors: [any HTTPExecutor], credentials: Credentials = Credentials()) {
        self.init(HTTPPipeline(executors, credentials: credentials))
    }

    /// Loads an endpoint outside any call, as in a program.
    ///
    /// - Throws: The errors of `load(_:_:progress:)`.
    public func load<Response>(
        _ endpoint: Endpoint<Response>, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) async throws(BackplaneError) -> Response {
        try await load(endpoint, Call(), progress: progress)
    }

    /// Returns the pages of a resource outside any call, as a sequence that loads them as it is read.
    public func pages<Response>(
        _ endpoint: Endpoint<Response>, next rule: NextPage<Response> = .link, limit: Int = 1_000
    ) -> Pages<Response> {
        pages(endpoint, Call(), next: rule, limit: limit)
    }

    /// Returns the events of a server outside any call, as a sequence that connects as it is read.
    public func events(
        _ endpoint: Endpoint<ServerEvent>, after last: String = "", idle: Duration = .seconds(60)
    ) -> ServerEvents {
        events(endpoint, Call(), after: last, idle: idle)
    }
}

extension Endpoint {
    /// Starts to load the endpoint outside any call, and returns the load, which can be observed and cancelled.
    @discardableResult
    public func load(on http: HTTPClient) -> EndpointLoad<Response> { load(on: http, Call()) }
}
