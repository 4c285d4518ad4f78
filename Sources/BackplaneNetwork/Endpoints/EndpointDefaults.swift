public import Backplane

/// The settings of a client for the endpoints that are loaded on it.
public struct EndpointDefaults: Sendable {
    /// The URL to which the paths of endpoints are relative; it may have a path and a query.
    public var baseURL: String?
    /// The header fields of every request to the origin of ``baseURL``; without a base URL, they are not sent.
    ///
    /// Fields of an endpoint replace those of the same name.
    public var headers: HTTPHeaders = [:]
    /// The name of the credential of endpoints without one; `nil` means none.
    ///
    /// It is one of the manifest's `network.credentials`, or of the program's. It applies to requests to the origin of
    /// ``baseURL``, or to all requests without a base URL.
    public var credential: String?
    /// The signed-in account of ``credential``; `nil` means the account that needs no sign-in.
    public var account: String?
    /// The decoder of endpoints without one; `nil` means a `JSONDecoder` with default settings.
    public var decoder: (any ResponseDecoder)?
    /// The error type into which responses with an invalid status are decoded; `nil` means none.
    public var failure: EndpointFailure?
    /// The interceptors around every load, with the first one outermost.
    public var interceptors: [HTTPInterceptor] = []
    /// The observers of every load, which are notified in order before those of the endpoint.
    ///
    /// They are called by the load itself, and must not block. A load has one start and one end.
    public var observers: [@Sendable (LoadEvent) -> Void] = []
    /// The retry policy of endpoints without one; `nil` means a single attempt.
    public var retry: RetryPolicy?
    /// The log level of endpoints without one.
    public var logLevel = LoadLogLevel.none
    /// The function that receives log messages, instead of the component's log or a program's standard error.
    public var log: (@Sendable (_ message: String, _ metadata: [String: String], _ call: Call) -> Void)?

    /// Creates settings without a base URL.
    public init(baseURL: String? = nil) { self.baseURL = baseURL }

    /// Returns the options of an endpoint, with the credential unless they name one or the origin is another one.
    func completed(_ options: HTTPOptions, for request: HTTPRequest) -> HTTPOptions {
        guard options.credential == nil, let credential else { return options }
        if let baseURL, HTTPOrigin(baseURL) != HTTPOrigin(request.url) { return options }
        var options = options
        options.credential = credential
        options.account = options.account ?? account
        return options
    }
}
