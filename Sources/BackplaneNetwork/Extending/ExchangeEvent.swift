public import Backplane
import Synchronization

/// An event that notifies observers of a stage of an exchange, or of a load with all its exchanges.
///
/// An event that crosses to a plugin contains nothing secret: no header fields, no query and no bytes of a body.
public struct ExchangeEvent: Codable, Sendable {
    /// The name of a stage; hosts of a later version may have additional ones.
    public struct Stage: RawRepresentable, Codable, Equatable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The exchange begins, before any filter.
        public static let start = Self(rawValue: "start")
        /// The response to an equal request in flight is awaited, instead of making the exchange.
        public static let shared = Self(rawValue: "shared")
        /// A cache has decided; ``ExchangeEvent/note`` contains the decision.
        public static let cache = Self(rawValue: "cache")
        /// An attempt begins.
        public static let attempt = Self(rawValue: "attempt")
        /// An attempt of a load has ended, with ``ExchangeEvent/status`` or ``ExchangeEvent/error``.
        public static let attempted = Self(rawValue: "attempted")
        /// The head of an attempt's response has arrived, after redirects; for a load, the head of the final response.
        public static let head = Self(rawValue: "head")
        /// Bytes of one of the bodies have been transferred; an undelivered event is replaced by the next one.
        public static let progress = Self(rawValue: "progress")
        /// Another attempt follows, after ``ExchangeEvent/delay``.
        public static let retry = Self(rawValue: "retry")
        /// A redirect is followed to ``ExchangeEvent/url``.
        public static let redirect = Self(rawValue: "redirect")
        /// The exchange continues although the server has a key that is not pinned or cannot be compared.
        public static let pinMismatch = Self(rawValue: "pin-mismatch")
        /// The exchange has ended, with ``ExchangeEvent/error`` or with the whole response.
        public static let end = Self(rawValue: "end")
    }

    /// The stage that was reached.
    public var stage: Stage
    /// A number that identifies the exchange or the load; collisions are very unlikely.
    public var exchange: UInt64
    /// The name of the endpoint that is loaded; `nil` for the exchange of a request.
    public var endpoint: String?
    /// The request method; after a redirect, the method of the redirected request.
    public var method: String
    /// The URL without credentials, query and fragment.
    public var url: String
    /// The component that sends the request; `nil` for the program itself, and in the component's own observers.
    public var component: String?
    /// The id of the trace of the call for which the exchange is made; `nil` if it has none.
    public var trace: String?
    /// The number of the attempt, starting at 1; 0 before the first one.
    public var attempt: Int
    /// The status of the last response, if any.
    public var status: Int?
    /// The code of an error: of the attempt for `attempted` and `retry`, of the exchange for `end`, of the mismatch for
    /// `pin-mismatch`.
    public var error: String?
    /// The decision of a cache and its reason, for `cache`.
    public var note: String?
    /// The delay before the next attempt in nanoseconds, for `retry`.
    public var delay: Int64?
    /// The number of bytes of the request's body that have been sent in this attempt.
    public var sent: Int64
    /// The bytes of the response's body that were received, after decoding.
    public var received: Int64
    /// The lengths of both bodies in bytes, as far as a load knows them.
    public var toSend, toReceive: Int64?
    /// The time since the start of the exchange, in nanoseconds.
    public var after: Int64
    /// The header fields of the response, for the `head` of a load; they do not cross to other components.
    public var headers: HTTPHeaders?
    /// The error of a load that has failed, for `end`, or of a mismatch; it does not cross to other components.
    public var failure: BackplaneError?
    /// A Boolean value that indicates whether the sender itself reads the body after the head, perhaps for ever.
    ///
    /// It is not passed to other components.
    package var isStreamed = false

    private enum CodingKeys: CodingKey {
        case stage, exchange, endpoint, method, url, component, trace, attempt, status, error, note, delay, sent,
            received
        case toSend, toReceive, after
    }

    package init(
        exchange: UInt64 = .random(in: 1..<(1 << 53)), endpoint: String? = nil, method: String, url: String,
        component: String? = nil, trace: String? = nil
    ) {
        (stage, self.exchange, self.endpoint, self.method, self.url) = (.start, exchange, endpoint, method, url)
        (self.component, self.trace) = (component, trace)
        (attempt, sent, received, after) = (0, 0, 0, 0)
    }
}

/// The observation of one exchange or load, which notifies observers of its stages in order.
package final class ObservedExchange: Sendable {
    private struct State {
        /// The last event, without the properties that apply only to it.
        var event: ExchangeEvent
        var length: Int64?
        var hasEnded = false
    }
    private let observers: [@Sendable (ExchangeEvent) -> Void]
    private let clock: any DeadlineClock
    private let start: Deadline
    private let state: Mutex<State>

    /// Notifies the observers of the start; returns `nil` if there are none.
    package init?(
        _ event: @autoclosure () -> ExchangeEvent, _ observers: [@Sendable (ExchangeEvent) -> Void],
        _ clock: any DeadlineClock
    ) {
        guard !observers.isEmpty else { return nil }
        (self.observers, self.clock, start) = (observers, clock, clock.moment)
        state = Mutex(State(event: event()))
        tell(.start)
    }

    /// Sends an event, with properties that later events keep, and properties that apply only to this event.
    private func tell(
        _ stage: ExchangeEvent.Stage, _ change: (inout ExchangeEvent) -> Void = { _ in },
        once: (inout ExchangeEvent) -> Void = { _ in }
    ) {
        // Observers receive the events in the order of the changes.
        state.withLock { state in
            guard !state.hasEnded else { return }
            change(&state.event)
            state.event.stage = stage
            state.event.after = (clock.moment - start).nanoseconds
            var event = state.event
            once(&event)
            state.hasEnded = stage == .end
            for observer in observers { observer(event) }
        }
    }

    /// Notes that the sender reads the body of the response by itself.
    package func streams() { state.withLock { $0.event.isStreamed = true } }

    package func attempted(_ request: HTTPRequest) {
        tell(.attempt) { event in
            (event.method, event.url) = (request.method, request.printableURL)
            (event.attempt, event.status) = (event.attempt + 1, nil)
            (event.sent, event.received) = (0, 0)
        }
    }

    package func headed(_ response: HTTPStreamedResponse) {
        state.withLock { $0.length = response.contentLength }
        tell(.head) { $0.status = response.status }
    }

    /// - Parameter error: The error of the attempt; `nil` if the response is the reason for the retry.
    package func retries(after delay: Duration, _ error: BackplaneError.Code?) {
        tell(.retry, once: { ($0.delay, $0.error) = (delay.nanoseconds, error?.rawValue) })
    }

    package func shared() { tell(.shared) }

    package func decided(_ note: String) { tell(.cache, once: { $0.note = note }) }

    package func redirected(to request: HTTPRequest) {
        tell(.redirect) { ($0.method, $0.url) = (request.method, request.printableURL) }
    }

    package func mismatched(_ error: BackplaneError) {
        tell(.pinMismatch, once: { ($0.error, $0.failure) = (error.code.rawValue, error) })
    }

    package func sent(_ count: Int64) {
        guard state.withLock({ $0.event.sent != count }) else { return }
        tell(.progress) { $0.sent = count }
    }

    /// Adds to the number of received bytes of the response's body, and reports the progress unless the body is
    /// complete.
    package func received(_ count: Int) {
        let isComplete = state.withLock { state in
            guard state.event.received + Int64(count) == state.length else { return false }
            state.event.received += Int64(count)
            return true
        }
        if !isComplete { tell(.progress) { $0.received += Int64(count) } }
    }

    @Sendable package func ended(_ error: (any Error)?) {
        let error = error.map { BackplaneError(thrown: $0) }
        tell(.end, once: { ($0.error, $0.failure) = (error?.code.rawValue, error) })
    }

    package func watching(_ response: HTTPStreamedResponse) -> HTTPStreamedResponse {
        var response = response
        response.body = response.body.tapped(ended: ended)
        return response
    }

    func attempted(_ attempt: HTTPAttempt) {
        tell(.attempted) { event in
            (event.attempt, event.status) = (attempt.number, attempt.status)
        } once: {
            $0.error = attempt.error?.rawValue
        }
    }

    func loaded(_ response: HTTPStreamedResponse) {
        tell(.head) { event in
            (event.attempt, event.status) = (max(event.attempt, response.timings.attempts), response.status)
        } once: {
            $0.headers = response.headers
        }
    }

    func progressed(_ progress: HTTPProgress) { tell(.progress) { $0.take(progress) } }
}

extension ExchangeEvent {
    mutating func take(_ progress: HTTPProgress) {
        (sent, received, toSend, toReceive) = (
            progress.sent, progress.received, progress.toSend, progress.toReceive
        )
    }
}
