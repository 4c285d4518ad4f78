public import BackplaneNetwork

/// An executor whose responses are computed by a closure, without a network.
///
/// ```swift
/// let books = MemoryExecutor { request, _ in
///     HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("Moby-Dick".utf8)))
/// }
/// ```
public struct MemoryExecutor: HTTPExecutor {
    /// A function that answers a request.
    public typealias Answer = @Sendable (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse

    /// The URL schemes that the executor serves.
    public let schemes: [String]
    /// The capabilities that requests may need; the closure must honour them.
    public let capabilities: HTTPCapabilities
    private let answer: Answer

    /// Creates an executor that answers every request with a function.
    ///
    /// - Parameters:
    ///   - schemes: The URL schemes that are answered, in lower case.
    ///   - capabilities: The capabilities that requests may need.
    ///   - answer: A function that answers a request.
    public init(
        schemes: [String] = ["http", "https"],
        capabilities: HTTPCapabilities = [.streamedUploads, .contentInGET], answer: @escaping Answer
    ) {
        (self.schemes, self.capabilities, self.answer) = (schemes, capabilities, answer)
    }

    /// A function that answers a request.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        try Task.checkCancellation()
        return try await answer(request, options)
    }
}
