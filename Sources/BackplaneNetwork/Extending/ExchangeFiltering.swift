public import Backplane

/// The contract of a manager that filters exchanges: a filter that a plugin provides.
///
/// The manifest names it under `network.filters`, in the order in which filters run, with the hosts to which it
/// applies. A filter receives heads but not bodies. If it fails, the exchange fails.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.interests) { _, _, _ in [.attempts, .digest] }
///     table.async(\.request) { _, head, _ in head }
///     table.async(\.attempt) { signer, head, _ in [["Signature", signer.signature(head)]] }
/// }
/// ```
public struct ExchangeFiltering: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// The parts of exchanges in which the filter takes part, which the host requests for each exchange.
    public let interests = AsyncMethod<Nothing, FilterInterests>()
    /// Changes the head of a request, once for each exchange before any attempt.
    public let request = AsyncMethod<FilteredRequest, FilteredRequest>()
    /// Returns the names and values of fields that are added to the head of one attempt, or of one redirect's request.
    ///
    /// They must not vary the response: a date or a signature, but no credentials, conditions or ranges. A field that
    /// the head already has is an error.
    public let attempt = AsyncMethod<FilteredRequest, [[String]]>()

    /// Creates the contract.
    public init() {}
}

/// The parts of exchanges in which a filter takes part.
///
/// The raw values are those of `BP_FILTER_…` in `backplane.h`.
public struct FilterInterests: OptionSet, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The heads of requests.
    public static let requests = Self(rawValue: 1 << 0)
    /// The heads of attempts.
    public static let attempts = Self(rawValue: 1 << 1)
    /// The digest of the body, which must then be replayable and at most 64 MB in size.
    public static let digest = Self(rawValue: 1 << 2)
}

/// The head of a request for a filter.
public struct FilteredRequest: Codable, Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL, with its query.
    public var url: String
    /// The names and values of the header fields in order.
    public var headers: [[String]]
    /// The SHA-256 of the body in lower-case hexadecimal digits; `nil` unless the filter requests it.
    ///
    /// A change by the filter is ignored.
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
