/// A function around the exchanges of loads, which may change, measure, refuse or answer them.
///
/// ```swift
/// http.defaults.interceptors.append(HTTPInterceptor { request, next in
///     var signed = request
///     signed.headers["X-Reader"] = reader
///     return try await next(signed)
/// })
/// ```
///
/// It surrounds the whole exchange, with its retries and redirects. It may throw an error, which ends the load, or
/// return a response of its own without calling `next`, which is then validated and decoded like any other.
public struct HTTPInterceptor: Sendable {
    /// The rest of the chain: the next interceptor, and finally the exchange.
    ///
    /// Returns once the head of the response has arrived. For a download, it returns once the file is complete, with a
    /// response without a body.
    public typealias Next = @Sendable (HTTPRequest) async throws -> HTTPStreamedResponse
    let intercept: @Sendable (HTTPRequest, Next) async throws -> HTTPStreamedResponse

    /// Creates an interceptor from its function.
    ///
    /// - Parameter intercept: A function that returns the response to a request, usually that of `next`.
    public init(_ intercept: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPStreamedResponse) {
        self.intercept = intercept
    }
}

extension [HTTPInterceptor] {
    /// Returns an exchange surrounded by the interceptors, with the first one outermost.
    func around(_ exchange: @escaping HTTPInterceptor.Next) -> HTTPInterceptor.Next {
        reversed().reduce(exchange) { next, interceptor in
            { request in try await interceptor.intercept(request, next) }
        }
    }
}
