public import Backplane

/// The settings of a client for the endpoints that are loaded on it.
public struct EndpointDefaults: Sendable {
    /// The URL to which the paths of endpoints are relative; it may have a path and a query.
    public var baseURL: String?
    /// The header fields of every request to the origin of ``baseURL``; without a base URL, they are not sent.
    ///
    /// Fields of an endpoint replace those of the same name.
    public var headers: HTTPHeaders = [:]
    /// The decoder of endpoints without one; `nil` means a `JSONDecoder` with default settings.
    public var decoder: (any ResponseDecoder)?
    /// The error type into which responses with an invalid status are decoded; `nil` means none.
    public var failure: EndpointFailure?
    /// The interceptors around every load, with the first one outermost.
    public var interceptors: [HTTPInterceptor] = []
    /// The observers of every load, which are notified in order before those of the endpoint.
    ///
    /// They are called by the load itself, and must not block. A load has one start and one end.
    public var observers: [@Sendable (ExchangeEvent) -> Void] = []
    /// The retry policy of endpoints without one; `nil` means a single attempt.
    public var retry: RetryPolicy?
    /// The log level of endpoints without one.
    public var logLevel = LoadLogLevel.none
    /// The function that receives log messages, instead of the component's log or a program's standard error.
    public var log: (@Sendable (_ message: String, _ metadata: [String: String], _ call: Call) -> Void)?

    /// Creates settings without a base URL.
    public init(baseURL: String? = nil) { self.baseURL = baseURL }
}
