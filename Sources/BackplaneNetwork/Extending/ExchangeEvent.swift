/// An event that notifies observers of a stage of an exchange.
///
/// It contains nothing secret: no header fields, no query and no bytes of a body.
public struct ExchangeEvent: Codable, Sendable {
    /// The name of a stage; hosts of a later version may have additional ones.
    public struct Stage: RawRepresentable, Codable, Equatable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The exchange begins, before any filter.
        public static let start = Self(rawValue: "start")
        /// An attempt begins.
        public static let attempt = Self(rawValue: "attempt")
        /// The head of the response to an attempt has arrived, after its redirects.
        public static let head = Self(rawValue: "head")
        /// Bytes of one of the bodies have been transferred; an undelivered event is replaced by the next one.
        public static let progress = Self(rawValue: "progress")
        /// Another attempt follows, after ``ExchangeEvent/delay``.
        public static let retry = Self(rawValue: "retry")
        /// A redirect is followed to ``ExchangeEvent/url``.
        public static let redirect = Self(rawValue: "redirect")
        /// The exchange has ended, with ``ExchangeEvent/error`` or with the whole response.
        public static let end = Self(rawValue: "end")
    }

    /// The stage that was reached.
    public var stage: Stage
    /// A number that identifies the exchange; collisions are very unlikely.
    public var exchange: UInt64
    /// The request method; after a redirect, that of the redirected request.
    public var method: String
    /// The URL without credentials, query and fragment.
    public var url: String
    /// The component that sends the request; `nil` for the program itself.
    public var component: String?
    /// The id of the trace of the call for which the exchange is made; `nil` if it has none.
    public var trace: String?
    /// The number of the attempt, starting at 1; 0 before the first one.
    public var attempt: Int
    /// The status of the last response, if any.
    public var status: Int?
    /// The code of the error that ended the attempt, for `retry`, or the exchange, for `end`.
    public var error: String?
    /// The delay before the next attempt in nanoseconds, for `retry`.
    public var delay: Int64?
    /// The number of bytes of the request's body that have been sent in this attempt.
    public var sent: Int64
    /// The bytes of the response's body that were received, after decoding.
    public var received: Int64
    /// The time since the start of the exchange, in nanoseconds.
    public var after: Int64

    package init(
        _ stage: Stage, exchange: UInt64, method: String, url: String, component: String? = nil, trace: String? = nil
    ) {
        (self.stage, self.exchange, self.method, self.url) = (stage, exchange, method, url)
        (self.component, self.trace) = (component, trace)
        (attempt, sent, received, after) = (0, 0, 0, 0)
    }
}
