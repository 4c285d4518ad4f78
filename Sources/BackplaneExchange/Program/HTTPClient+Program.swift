public import Backplane
public import BackplaneNetwork

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
    public init(_ executors: [any HTTPExecutor]) { self.init(HTTPPipeline(executors)) }

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
