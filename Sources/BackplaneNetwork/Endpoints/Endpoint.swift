public import Backplane
import FoundationEssentials

/// A remote resource: its request, and the type into which its response is loaded.
///
/// ```swift
/// let search = Endpoint<[Book]>("GET", "search", query: ["q": "whale"])
/// let books = try await http.load(search, call)
/// ```
///
/// An endpoint is a value, and creating one does not start anything. Its path is relative to the client's base URL, so
/// that the same endpoint can be loaded in a test, in a program and inside a plugin. A response is of any `Decodable`
/// type, of a type that parses itself (``ParsedResponse``) or chooses its decoder (``DecodedResponse``), `String`,
/// `[UInt8]`, `Data`, `Nothing`, `HTTPResponse`, or a ``DownloadedFile``.
public struct Endpoint<Response: Sendable>: Sendable {
    /// The name in the events of its loads; `nil` means the method and the path without its query.
    public var name: String?
    /// The method, which may be any token: `GET`, `POST`.
    public var method: String
    /// The path, relative to the client's base URL; or a full URL, if ``allowsFullURL``.
    ///
    /// It may have a query. Characters that a URL cannot contain are percent-encoded; percent-encoded bytes remain
    /// unchanged. Segments `.` and `..` are refused, so that a path built from values stays below the base URL.
    ///
    /// An array of segments that was given to an initializer is fully percent-encoded, and may contain any value.
    public var path: String {
        didSet { hasSegments = false }
    }
    private var hasSegments: Bool
    /// The fields of the query, fully percent-encoded; they follow the queries of the base URL and the path.
    public var query: [(name: String, value: String)]
    /// The header fields, which replace the client's fields of the same names.
    public var headers: HTTPHeaders
    /// The content to send; a retry requires content that can be resent.
    public var body: HTTPBody
    /// A Boolean value that indicates whether ``path`` may be a full URL, which need not be below the base URL.
    ///
    /// The header fields of the client are sent only to the origin of its base URL.
    public var allowsFullURL = false
    /// The time limit of a load with all its attempts; `nil` means only the limits of ``options`` and of the call.
    public var timeout: Duration? = .seconds(60)
    /// The valid statuses of a response; `nil` means any.
    public var validStatuses: Range<Int>? = 200..<300
    /// The retry policy; `nil` means the client's policy, and ``RetryPolicy/none`` a single attempt.
    public var retry: RetryPolicy?
    /// The maximum number of redirects to follow; with 0, a redirect is the response.
    public var redirects = 20
    /// The other options of the exchange; ``timeout``, ``retry`` and ``redirects`` take precedence over them.
    public var options = HTTPOptions()
    /// The decoder for this endpoint; `nil` means the decoder of the type (``DecodedResponse``), or else the client's.
    public var decoder: (any ResponseDecoder)?
    /// The error type into which a response with an invalid status is decoded; `nil` means the client's.
    public var failure: EndpointFailure?
    /// The maximum number of bytes of a failed response's body that its error contains: 16 KB by default.
    ///
    /// The load waits at most five seconds for these bytes.
    public var failureLimit = 16 << 10
    /// The log level of its loads; `nil` means the client's level, by default none.
    public var logLevel: LoadLogLevel?
    /// The interceptors of this endpoint, inside the client's interceptors; the first is outermost.
    public var interceptors: [HTTPInterceptor] = []
    /// The observers of this endpoint's loads, which are notified after the client's observers and must not block.
    public var observers: [@Sendable (ExchangeEvent) -> Void] = []
    /// The check of the loaded value; `nil` accepts everything.
    ///
    /// It receives the value, and the response without its body; `timings.attempts` is the number of attempts so far.
    public var verdict: (@Sendable (Response, HTTPResponse) throws -> EndpointVerdict)?
    let receipt: Receipt

    /// The form in which a response is received.
    enum Receipt: Sendable {
        typealias Parse = @Sendable (HTTPResponse, any ResponseDecoder) throws -> Response
        /// The value depends only on the body and the decoder.
        case decoded(Parse)
        case parsed(Parse)
        case file(path: String, @Sendable (DownloadedFile) -> Response)
    }

    init(
        _ method: String, _ path: some EndpointPath, _ query: KeyValuePairs<String, String?>, _ headers: HTTPHeaders,
        _ body: HTTPBody, _ receipt: Receipt
    ) {
        (self.method, self.path, self.headers, self.body) = (method, path.endpointPath, headers, body)
        hasSegments = path is [String]
        self.receipt = receipt
        self.query = query.compactMap { name, value in value.map { (name, $0) } }
    }
}

/// The verdict on a loaded value.
public enum EndpointVerdict: Sendable {
    /// The value is the result of the load.
    case accept
    /// The load fails with `network.rejected`, with this reason.
    case reject(String)
    /// Another attempt may help; if the retry policy does not allow one, the load fails with this reason.
    case retry(String)
}

/// The settings of a client for the endpoints that are loaded on it.
public struct EndpointDefaults: Sendable {
    /// The URL to which the paths of endpoints are relative; it may have a path and a query.
    public var baseURL: String?
    /// The header fields of every request to the origin of ``baseURL``; without a base URL, they are not sent.
    ///
    /// Fields of an endpoint replace fields of the same name.
    public var headers: HTTPHeaders = [:]
    /// The name of the credential of endpoints without one; `nil` means none.
    ///
    /// The credential is declared in the manifest's `network.credentials`, or by the program. It applies to requests to
    /// the origin of ``baseURL`` or, without a base URL, to all requests.
    public var credential: String?
    /// The signed-in account of ``credential``; `nil` means the account that needs no sign-in.
    public var account: String?
    /// A Boolean value that indicates whether mocks answer endpoints whose options leave it open; `nil` means the
    /// pipeline's setting.
    public var usesMock: Bool?
    /// The decoder of endpoints without one; `nil` means a `JSONDecoder` with default settings.
    public var decoder: (any ResponseDecoder)?
    /// The error type into which responses with an invalid status are decoded; `nil` means none.
    public var failure: EndpointFailure?
    /// The interceptors around every load, with the first one outermost.
    public var interceptors: [HTTPInterceptor] = []
    /// The observers of every load, which are notified in order, before the endpoint's observers.
    ///
    /// The load itself calls them, so they must not block. A load has one start and one end.
    public var observers: [@Sendable (ExchangeEvent) -> Void] = []
    /// The retry policy of endpoints without one; `nil` means a single attempt.
    public var retry: RetryPolicy?
    /// The log level of endpoints without one.
    public var logLevel = LoadLogLevel.none
    /// The function that receives log messages, instead of the component's log or a program's standard error.
    public var log: (@Sendable (_ message: String, _ metadata: [String: String], _ call: Call) -> Void)?

    /// Creates settings without a base URL.
    public init(baseURL: String? = nil) { self.baseURL = baseURL }

    /// Returns the options of an endpoint with the credential, unless they name one or the request has another origin.
    func completed(_ options: HTTPOptions, for request: HTTPRequest) -> HTTPOptions {
        guard options.credential == nil, !options.hasNoCredential, let credential else { return options }
        if let baseURL, HTTPOrigin(baseURL) != HTTPOrigin(request.url) { return options }
        var options = options
        options.credential = credential
        options.account = options.account ?? account
        return options
    }
}

/// An error type into which the bodies of responses with an invalid status are decoded.
///
/// ```swift
/// struct Refusal: ComponentError, Decodable {
///     var code, message: String
/// }
/// http.defaults.failure = .decoded(Refusal.self)
/// ```
///
/// The error `network.status` then has the code, message and details of the decoded error. They pass through wires, so
/// a caller can compare `error.failure?.code`.
public struct EndpointFailure: Sendable {
    let decode: @Sendable ([UInt8], any ResponseDecoder) throws -> any ComponentError

    /// Returns the rule that decodes a type; a body that cannot be decoded leaves the error unchanged.
    public static func decoded<Failure: ComponentError & Decodable>(_ type: Failure.Type) -> EndpointFailure {
        EndpointFailure { body, decoder in try decoder.decode(Failure.self, from: Data(body)) }
    }
}

extension Endpoint {
    /// Returns the request that a load of the endpoint sends.
    ///
    /// - Throws: `network.invalid-request` if there is no URL, or the path is not allowed.
    public func request(_ defaults: EndpointDefaults) throws(BackplaneError) -> HTTPRequest {
        let url = try EndpointURL.join(
            defaults.baseURL, path, isOfSegments: hasSegments, query, allowsFullURL: allowsFullURL)
        var request = HTTPRequest(method, url, headers: headers, body: body)
        if !EndpointURL.hasScheme(path) || isOfSameOrigin(url, defaults.baseURL) {
            for field in defaults.headers.fields where headers[field.name] == nil {
                request.headers.add(field.name, field.value)
            }
        }
        return request
    }

    /// Returns the options of an exchange for the endpoint, without the additions of its loads and event streams.
    func exchangeOptions(_ defaults: EndpointDefaults, for request: HTTPRequest) -> HTTPOptions {
        var options = defaults.completed(options, for: request)
        options.redirects = redirects
        options.usesMock = options.usesMock ?? defaults.usesMock
        options.interceptors = (defaults.interceptors + interceptors).aroundAttempts
        return options
    }

    private func isOfSameOrigin(_ url: String, _ base: String?) -> Bool {
        guard let base, let origin = HTTPOrigin(url) else { return false }
        return origin == HTTPOrigin(base)
    }
}
