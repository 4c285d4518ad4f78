public import Backplane

/// The contract of a manager that intercepts exchanges: an interceptor that a plugin provides.
///
/// The manifest lists such managers under `network.interceptors`, in the order of interception, with the hosts to which
/// they apply. An interceptor receives heads but not bodies, and never a credential. If it fails, the exchange fails.
/// ``events`` is an exception: exchanges do not wait for it, and its errors do not fail them.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.interests) { _, _, _ in [.attempts, .digest, .events] }
///     table.async(\.request) { _, head, _ in head }
///     table.async(\.attempt) { signer, head, _ in ["Signature": signer.signature(head)] }
///     table.async(\.events) { signer, batch, _ in signer.note(batch.events) }
/// }
/// ```
public struct Intercepting: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns the parts of exchanges in which the interceptor takes part; the host calls it for each exchange.
    public let interests = AsyncMethod<Nothing, Interests>()
    /// Changes the head of a request, once for each exchange before any attempt.
    public let request = AsyncMethod<InterceptedRequest, InterceptedRequest>()
    /// Returns the fields to add to the head of one attempt, or of one redirected request.
    ///
    /// The response must not depend on the fields: they may be a date or a signature, but not credentials, conditions
    /// or ranges. A field that the head already has is an error.
    public let attempt = AsyncMethod<InterceptedRequest, HTTPHeaders>()
    /// Receives the next events, in order; later events follow once this call has ended.
    public let events = AsyncMethod<ExchangeEvents, Nothing>()

    /// Creates the contract.
    public init() {}
}

/// The parts of exchanges in which an interceptor takes part.
///
/// The raw values match `BP_INTERCEPT_…` in `backplane.h`.
public struct Interests: OptionSet, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The heads of requests.
    public static let requests = Self(rawValue: 1 << 0)
    /// The heads of attempts.
    public static let attempts = Self(rawValue: 1 << 1)
    /// The digest of the body, which must then be replayable and at most 64 MB in size.
    public static let digest = Self(rawValue: 1 << 2)
    /// The events of exchanges with every host.
    public static let events = Self(rawValue: 1 << 3)
}

/// The head of a request for an interceptor.
public struct InterceptedRequest: Codable, Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL, with its query.
    public var url: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The SHA-256 of the body in lower-case hexadecimal digits; `nil` unless the interceptor requests it.
    ///
    /// A change by the interceptor is ignored.
    public var digest: String?

    package init(_ request: HTTPRequest, digest: String?) {
        (method, url, headers, self.digest) = (request.method, request.url, request.headers, digest)
    }
}

/// The queued events for one interceptor.
public struct ExchangeEvents: Codable, Sendable {
    /// The events, in the order in which they happened.
    public var events: [ExchangeEvent]
    /// The number of later events that were dropped because the interceptor was too slow.
    public var lost: Int

    package init(events: [ExchangeEvent], lost: Int) { (self.events, self.lost) = (events, lost) }
}
