public import Backplane

/// The options of one exchange.
///
/// Numbers are clamped to the ranges of an exchange: times from zero to 1,000,000,000 seconds, at least one byte, at
/// most 100 redirects and 1,000,000 attempts.
public struct HTTPOptions: Sendable {
    /// The time limit from the start to the end of the body; `nil` means no limit.
    public var totalTimeout: Duration?
    /// The time limit from the start to the head of the response; `nil` means no limit.
    public var headTimeout: Duration?
    /// The time limit between bytes of the response's body; `nil` means no limit.
    public var readTimeout: Duration?
    /// The maximum number of bytes of the response's body, after decoding; `nil` means no limit.
    public var maximumBodySize: Int?
    /// A Boolean value that indicates whether compressed content is requested and decoded.
    ///
    /// A request with its own `Accept-Encoding` is not changed. A request with `Range` specifies `identity`, because
    /// part of compressed content cannot be decoded. A decoded response has neither `Content-Encoding` nor
    /// `Content-Length`.
    public var decompresses = false
    /// The function that receives the progress of both bodies.
    ///
    /// It is called in order, each time that bytes have been transferred, and must not block.
    public var progress: (@Sendable (HTTPProgress) -> Void)?
    /// The name of the executor in the manifest's `network.executors`; `nil` means the executor of the URL's scheme.
    public var executor: String?
    /// The name of the credential that authenticates the request; `nil` means none.
    ///
    /// The credential is declared in the manifest's `network.credentials`, or by the program.
    public var credential: String?
    /// The signed-in account of the credential; `nil` means the account that needs no sign-in.
    public var account: String?
    /// The maximum number of redirects to follow; with 0, the default, a redirect is the response.
    ///
    /// Each redirect passes through the pipeline again. Header fields that could contain credentials are sent only to
    /// the origin for which they were specified.
    public var redirects = 0
    /// The retry policy; `nil` means a single attempt.
    public var retry: RetryPolicy?
    /// The rule by which the response may come from a cache.
    public var cache = CachePolicy.none
    /// The tags by which the response can be removed from a cache.
    public var cacheTags: [String] = []
    /// The treatment of the request if an equal request is in flight; `nil` means the default of its method.
    public var equalRequests: EqualRequests?
    /// A Boolean value that indicates whether a mock answers; `nil` means the setting of the client or else the
    /// pipeline.
    public var usesMock: Bool?
    /// The function that receives the outcome of each attempt, in order, whether or not another attempt follows.
    ///
    /// It must not block. A download whose body is interrupted is reported a second time, with the error.
    public var attempted: (@Sendable (HTTPAttempt) -> Void)?
    /// The number of the first attempt, which is above 1 if the sender has rejected responses to this request.
    package var attempt = 1
    /// The TLS settings that the pipeline has for the request's host, for the executor to apply.
    public package(set) var tls: TLSSettings?
    /// The function to which an executor reports pin mismatches that do not end the exchange.
    ///
    /// It receives `network.pin-mismatch`, or `network.insecure` if no key could be compared. It must not block.
    public package(set) var pinMismatched: (@Sendable (BackplaneError) -> Void)?
    /// The function that receives the number of bytes of each part of the response's body, before it is read.
    package var received: (@Sendable (Int) -> Void)?
    /// The function to which an executor that does not stream reports the sent bytes and the length of the request's
    /// body.
    package var sent: (@Sendable (Int64, Int64) -> Void)?
    package var call: Call?
    /// The folder with the mocks of the sender's plugin; `nil` for none.
    package var mockFolder: String?
    /// The name of the endpoint that is loaded; `nil` for a request without one.
    package var endpoint: String?
    /// A Boolean value that indicates whether the body is loaded whole, so that the response can be stored and shared.
    package var isWhole = false
    /// A Boolean value that indicates whether the server has to confirm even a fresh stored response.
    package var refreshes = false
    /// The client's and the endpoint's interceptors around attempts, outside the pipeline's.
    package var interceptors: [HTTPInterceptor] = []
    /// A Boolean value that indicates whether the request asks for a token, and skips interceptors.
    package var isSignIn = false
    /// A Boolean value that indicates whether cassettes record neither body, because both may contain secrets.
    package var hidesBodies = false
    /// A Boolean value that indicates whether the request has no credential, not even the client's.
    package var hasNoCredential = false
    /// The names of the credential fields, which are hidden from interceptors.
    package var proofFields: [String] = []
    /// The names of the query parameters in which credentials send tokens; cassettes do not record them.
    package var tokenParameters: Set<String> = []
    /// The component that sends the request, for observers; `nil` for the program itself.
    package var sender: String?
    /// The time by which the head of the current attempt's response must arrive; `nil` without a limit.
    package var headDeadline: Deadline?

    /// Creates options without limits.
    public init() {}

    /// The maximum number of bytes that are collected in memory by default: 64 MB.
    public static let collectionLimit = 64 << 20
}

/// The progress of both bodies of an exchange in bytes.
public struct HTTPProgress: Sendable {
    /// The number of bytes of the request's body that have been taken for sending.
    public var sent: Int64 = 0
    /// The length of the request's body, if known.
    public var toSend: Int64?
    /// The number of bytes of the response's body that have been received, after decoding.
    public var received: Int64 = 0
    /// The announced length of the response's body, if known.
    public var toReceive: Int64?

    /// The fraction of the response's body that has been received, from 0 to 1; `nil` if its length is unknown.
    ///
    /// While a request's body is being sent, this is the fraction of that body.
    public var fraction: Double? {
        func fraction(_ done: Int64, _ all: Int64?) -> Double? {
            all.map { $0 > 0 ? Swift.min(1, Double(done) / Double($0)) : 1 }
        }
        if received == 0, toReceive == nil, toSend != nil { return fraction(sent, toSend) }
        return fraction(received, toReceive)
    }

    /// Creates the progress of an exchange that has not started.
    public init() {}
}

/// The outcome of one attempt of an exchange.
public struct HTTPAttempt: Sendable {
    /// The number of the attempt, starting at 1.
    public var number: Int
    /// The status of the response; `nil` if there was none.
    public var status: Int?
    /// The code of the error that prevented a response or a complete file.
    public var error: BackplaneError.Code?

    package init(number: Int, status: Int? = nil, error: BackplaneError.Code? = nil) {
        (self.number, self.status, self.error) = (number, status, error)
    }
}

extension HTTPOptions {
    /// The options with all numbers clamped to the ranges that every transport accepts.
    package var bounded: HTTPOptions {
        var bounded = self
        bounded.totalTimeout = totalTimeout?.bounded
        bounded.headTimeout = headTimeout?.bounded
        bounded.readTimeout = readTimeout?.bounded
        bounded.maximumBodySize = maximumBodySize.map { Swift.max(1, $0) }
        bounded.redirects = Swift.min(Swift.max(0, redirects), Self.mostRedirects)
        bounded.retry = retry?.bounded
        bounded.attempt = Swift.min(Swift.max(1, attempt), RetryPolicy.mostAttempts)
        return bounded
    }

    /// The options of a request that replaces a stale response in the background, unless another request does so.
    package var refreshing: HTTPOptions {
        var options = self
        (options.refreshes, options.equalRequests) = (true, .reject)
        options.totalTimeout = Swift.min(totalTimeout ?? .seconds(60), .seconds(60))
        (options.progress, options.attempted, options.call) = (nil, nil, call?.withoutDeadline)
        return options
    }

    package static let mostRedirects = 100
}

extension RetryPolicy {
    fileprivate var bounded: RetryPolicy {
        var bounded = self
        bounded.attempts = Swift.min(Swift.max(1, attempts), Self.mostAttempts)
        bounded.base = base.bounded
        bounded.limit = limit.bounded
        bounded.retryAfterLimit = retryAfterLimit.bounded
        bounded.attemptTimeout = attemptTimeout?.bounded
        if statuses.contains(where: { !(0...999).contains($0) }) {
            bounded.statuses = statuses.filter { (0...999).contains($0) }
        }
        return bounded
    }

    package static let mostAttempts = 1_000_000
}

extension Duration {
    /// The maximum duration of a limit or a delay: about thirty years.
    package static let longest = Duration.seconds(1_000_000_000)

    /// The duration, clamped to the range of limits and delays: neither negative nor longer than the maximum.
    package var bounded: Duration { Swift.min(Swift.max(.zero, self), .longest) }
}
