#if Engines
import Backplane
public import BackplaneExchange
public import BackplaneNetwork
import Tracing

/// An executor that creates a client span for each request of another executor.
///
/// ```swift
/// let options = HostOptions(executors: [TracedExecutor(AsyncHTTPClientExecutor())])
/// ```
///
/// The span continues the trace of the call for which the request is sent. Each attempt and each redirected request has
/// its own span, which ends once the head of the response has arrived. Requests that a cache or a mock answers have no
/// span.
///
/// The server receives the span in the field `traceparent` if the request has that field, because the manifest lists
/// the host as `network.traced`, or the component has set it. No other host receives it.
public struct TracedExecutor: HTTPExecutor {
    private let next: any HTTPExecutor
    /// The methods that name a span; other methods would add an unlimited number of names.
    private static let methods = HTTPRequest.idempotentMethods.union(["POST", "PATCH", "CONNECT"])

    /// Creates an executor that sends requests through another one.
    public init(_ next: any HTTPExecutor) { self.next = next }

    /// The URL schemes of the other executor.
    public var schemes: [String] { next.schemes }
    /// The capabilities of the other executor.
    public var capabilities: HTTPCapabilities { next.capabilities }

    /// Sends a request through the other executor, in a span.
    ///
    /// - Throws: The errors of the other executor.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        guard let origin = HTTPOrigin(request.url) else { return try await next.open(request, options) }
        let isKnown = Self.methods.contains(request.method), received = request.headers["traceparent"]
        let span = startSpan(
            isKnown ? request.method : "HTTP",
            context: .continuing(received ?? options.call?.trace?.traceparent), ofKind: .client)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["http.request.method"] = isKnown ? request.method : "_OTHER"
            attributes["server.address"] = origin.host
            attributes["server.port"] = origin.port
            attributes["url.full"] = request.printableURL
        }
        var sent = request
        if received != nil, let own = span.context.traceparent { sent.headers["traceparent"] = own }
        do {
            let response = try await next.open(sent, options)
            span.attributes["http.response.status_code"] = response.status
            if response.status >= 400 {
                span.attributes["error.type"] = "\(response.status)"
                span.setStatus(SpanStatus(code: .error))
            }
            return response
        } catch {
            span.fail(error)
            throw error
        }
    }
}
#endif
