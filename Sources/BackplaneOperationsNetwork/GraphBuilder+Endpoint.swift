public import Backplane
public import BackplaneNetwork
public import BackplaneOperations
import Synchronization

// Loads of endpoints. They are a target of their own, so that a plugin without network links no HTTP for its graphs.
extension GraphBuilder {
    /// Adds a node that loads an endpoint.
    ///
    /// ```swift
    /// let books = graph.load("books", search, on: context.http, call)
    /// ```
    ///
    /// The status that the node's handlers receive includes that of the response. An endpoint has its own retry policy,
    /// which considers whether HTTP allows a request to be repeated; that of the options repeats the whole load.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - endpoint: The endpoint.
    ///   - http: The client.
    ///   - call: The call being served, whose deadline applies.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - progress: A function that is called in order with the progress of both bodies; it must not block.
    public mutating func load<Response>(
        _ name: String, _ endpoint: Endpoint<Response>, on http: HTTPClient, _ call: Call,
        options: NodeOptions? = nil, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) -> GraphNode<Response> {
        add(
            name, options: options,
            reporting: { status in
                try await http.load(endpoint, call, &status, progress)
            })
    }

    /// Adds a node that loads an endpoint, which a function creates from the node's input.
    ///
    /// ```swift
    /// let covers = graph.load("cover", after: book, on: context.http, call) { book in
    ///     Endpoint<DownloadedFile>("GET", "covers/\(book.id)", to: "cover.png")
    /// }
    /// ```
    public mutating func load<Input: GraphInput, Response>(
        _ name: String, after input: Input, on http: HTTPClient, _ call: Call, options: NodeOptions? = nil,
        progress: (@Sendable (HTTPProgress) -> Void)? = nil,
        _ endpoint: @escaping @Sendable (Input.Value) throws -> Endpoint<Response>
    ) -> GraphNode<Response> {
        add(
            name, after: input, options: options,
            reporting: { value, status in
                try await http.load(try endpoint(value), call, &status, progress)
            })
    }
}

extension HTTPClient {
    /// Loads an endpoint, and records the status of its response.
    fileprivate func load<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, _ status: inout NodeStatus,
        _ progress: (@Sendable (HTTPProgress) -> Void)?
    ) async throws -> Response {
        let code = Mutex<Int?>(nil), verdict = endpoint.verdict
        var noting = endpoint
        noting.verdict = { value, response in
            code.withLock { $0 = response.status }
            return try verdict?(value, response) ?? .accept
        }
        do {
            let value = try await load(noting, call, progress: progress)
            status.code = code.withLock { $0 }
            return value
        } catch {
            status.code = error.httpStatus ?? code.withLock { $0 }
            throw error
        }
    }
}
