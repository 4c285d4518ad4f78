public import Backplane

/// The contract of a manager that intercepts exchanges: an interceptor that a plugin provides.
///
/// The manifest names it under `network.interceptors`, in the order of interception, with the hosts to which it
/// applies. An interceptor receives heads but not bodies, and never a credential. If it fails, the exchange fails,
/// except for ``events``: exchanges neither wait for them nor fail because of them.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.interests) { _, _, _ in [.attempts, .digest, .events] }
///     table.async(\.request) { _, head, _ in head }
///     table.async(\.attempt) { signer, head, _ in [["Signature", signer.signature(head)]] }
///     table.async(\.events) { signer, batch, _ in signer.note(batch.events) }
/// }
/// ```
public struct Intercepting: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// The parts of exchanges in which the interceptor takes part, which the host requests for each exchange.
    public let interests = AsyncMethod<Nothing, Interests>()
    /// Changes the head of a request, once for each exchange before any attempt.
    public let request = AsyncMethod<InterceptedRequest, InterceptedRequest>()
    /// Returns the names and values of fields that are added to the head of one attempt, or of one redirect's request.
    ///
    /// They must not vary the response: a date or a signature, but no credentials, conditions or ranges. A field that
    /// the head already has is an error.
    public let attempt = AsyncMethod<InterceptedRequest, [[String]]>()
    /// Receives the next events, in order; later events follow once this call has ended.
    public let events = AsyncMethod<ExchangeEvents, Nothing>()

    /// Creates the contract.
    public init() {}
}

/// The parts of exchanges in which an interceptor takes part.
///
/// The raw values are those of `BP_INTERCEPT_…` in `backplane.h`.
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
    /// The names and values of the header fields in order.
    public var headers: [[String]]
    /// The SHA-256 of the body in lower-case hexadecimal digits; `nil` unless the interceptor requests it.
    ///
    /// A change by the interceptor is ignored.
    public var digest: String?

    package init(_ request: HTTPRequest, digest: String?) {
        (method, url, headers) = (request.method, request.url, request.headers.pairs)
        self.digest = digest
    }

    /// The header fields; those without a name and a value are omitted.
    public var fields: HTTPHeaders {
        get {
            var fields: HTTPHeaders = [:]
            for pair in headers where pair.count == 2 { fields.add(pair[0], pair[1]) }
            return fields
        }
        set { headers = newValue.pairs }
    }
}

/// The queued events for one interceptor.
public struct ExchangeEvents: Codable, Sendable {
    /// The events, in the order in which they happened.
    public var events: [ExchangeEvent]
    /// The number of events after these that were dropped because the interceptor was too slow.
    public var lost: Int

    package init(events: [ExchangeEvent], lost: Int) { (self.events, self.lost) = (events, lost) }
}
