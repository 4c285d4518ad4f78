public import Backplane
import FoundationEssentials

/// The events of a server (WHATWG, HTML, section 9.2), with automatic reconnection.
///
/// Leaving the loop ends the connection.
public struct ServerEvents: AsyncSequence, Sendable {
    let http: HTTPClient
    let endpoint: Endpoint<ServerEvent>
    let call: Call
    let last: String
    let idle: Duration

    /// Starts to receive events; nothing is sent before the first one is requested.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// An iterator of events, for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let stream: EventReading

        init(_ events: ServerEvents) { stream = EventReading(events) }

        /// Returns the next event; returns `nil` once the server ends the stream (status 204) or reconnection is not
        /// allowed.
        public mutating func next() async throws(BackplaneError) -> ServerEvent? {
            do { return try await stream.next() } catch { throw BackplaneError(thrown: error) }
        }
    }
}

extension HTTPClient {
    /// Returns the events of a server as a sequence, which connects as it is read.
    ///
    /// ```swift
    /// for try await event in http.events(Endpoint<ServerEvent>("GET", "changes"), call) { … }
    /// ```
    ///
    /// A connection that ends, breaks or is idle is re-established with the identifier of the last event. The delay is
    /// three seconds or the delay that the server requests (up to `retryAfterLimit`), and longer after failures.
    ///
    /// The policy is the endpoint's or the client's `retry`. Its `attempts` limit the connections in a row without an
    /// event; after the last of them, the sequence ends with its error. A connection that lasts longer than the maximum
    /// delay restarts the count. A request that the policy does not repeat, such as a `POST`, is sent once, and the
    /// sequence ends with its response. The endpoint's `timeout` applies to each connection up to the head. A
    /// connection after a failure uses the retry budget of its host; if the budget is exhausted, the sequence ends with
    /// the last error.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - call: The call being served, whose deadline applies to the whole sequence.
    ///   - last: The identifier of the last event that was received earlier; empty if there is none.
    ///   - idle: The time without a byte after which a connection is re-established.
    public func events(
        _ endpoint: Endpoint<ServerEvent>, _ call: Call, after last: String = "", idle: Duration = .seconds(60)
    ) -> ServerEvents {
        ServerEvents(http: self, endpoint: endpoint, call: call, last: last, idle: idle)
    }
}

extension Endpoint where Response == ServerEvent {
    /// Creates the endpoint of an event stream, for `events`; a load of it fails.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(
            method, path, query, headers, body,
            .parsed { _, _ in
                throw BackplaneError(.networkUnparsable, "this is an event stream; read it with `events`")
            }
        )
    }
}

/// The position of one reader of events, used by one task at a time.
private final class EventReading {
    private let events: ServerEvents
    private let policy: RetryPolicy
    private var parser: EventStreamParser
    private var body: HTTPBodyStream?
    private var received: ArraySlice<ServerEvent> = []
    /// The number of connections since the last event, or since a connection that was stable for a while.
    private var failures = 0
    private var connected: Deadline
    private var hasEnded = false
    /// A Boolean value that indicates whether the last connection was stable, so that the next one is not a retry.
    private var wasSound = true
    /// The delay requested by the `Retry-After` of the last response without events.
    private var retryAfter: Duration?
    /// The error that caused the next connection.
    private var lastFailure: BackplaneError?
    private var clock: any DeadlineClock { events.http.way.clock }
    private var isRepeatable: Bool { policy.repeats(events.endpoint.method, events.endpoint.body) }

    init(_ events: ServerEvents) {
        (self.events, connected) = (events, events.http.way.clock.moment)
        policy = events.endpoint.retry ?? events.http.defaults.retry ?? RetryPolicy(attempts: 10)
        parser = EventStreamParser(lastID: events.last)
    }

    func next() async throws -> ServerEvent? {
        while received.isEmpty, !hasEnded {
            do {
                try await receive()
            } catch {
                body = nil
                do {
                    try await delay(after: BackplaneError(thrown: error))
                } catch {
                    hasEnded = true
                    throw error
                }
            }
        }
        return received.popFirst()
    }

    private func receive() async throws {
        if let failure = parser.failure { throw failure }
        if body == nil { body = try await connect() }
        guard let body else { return hasEnded = true }
        guard let bytes = try await body.next() else {
            guard isRepeatable else { return hasEnded = true }
            throw BackplaneError(.networkFailed, "the server ended the event stream")
        }
        received = try parser.take(bytes)[...]
        // A connection without events that breaks occasionally is normal, unless it breaks immediately.
        let isSound = clock.moment - connected >= Swift.max(policy.limit, .seconds(1))
        if !received.isEmpty || isSound { (failures, wasSound) = (0, true) }
    }

    private func delay(after error: BackplaneError) async throws {
        if error.code == .networkNotRetried { throw lastFailure ?? error }
        lastFailure = error
        failures += 1
        let isTemporary = error.isConnectivity || error.httpStatus.map(policy.statuses.contains) == true
        guard isTemporary, isRepeatable, failures < policy.attempts else { throw error }
        let backoff = policy.backoff(after: failures, random: .random(in: 0..<1))
        let asked = Swift.min(parser.retry ?? .seconds(3), policy.retryAfterLimit)
        let after = retryAfter.take() ?? .zero
        guard after <= policy.retryAfterLimit else { throw error }
        let pause = Swift.max(asked, backoff, after)
        if let left = clock.timeLeft(of: events.call), left <= pause {
            throw BackplaneError(
                .callDeadline, "the call's deadline would pass before the next connection; \(error.message)",
                at: error.location)
        }
        try await clock.pause(for: pause)
    }

    /// Opens a connection; returns `nil` if the server has no more events.
    private func connect() async throws -> HTTPBodyStream? {
        connected = clock.moment
        var request = try events.endpoint.request(events.http.defaults)
        if request.headers["Accept"] == nil { request.headers.add("Accept", "text/event-stream") }
        request.headers["Cache-Control"] = "no-store"
        if !parser.lastID.isEmpty { request.headers["Last-Event-ID"] = parser.lastID }
        parser = EventStreamParser(lastID: parser.lastID, retry: parser.retry)
        var options = events.endpoint.exchangeOptions(events.http.defaults, for: request)
        options.headTimeout = events.endpoint.timeout ?? options.headTimeout
        options.readTimeout = events.idle
        options.endpoint = events.endpoint.title
        // The connections are counted here: the pipeline makes one attempt, after a failure with the host's budget.
        var attempt = policy
        options.attempt = wasSound ? 1 : failures + 1
        (attempt.attempts, attempt.base, wasSound) = (options.attempt, .zero, false)
        options.retry = attempt
        let interceptors = events.http.defaults.interceptors + events.endpoint.interceptors
        let exchange = interceptors.around { [way = events.http.way, call = events.call, options] request in
            try await way.open(request, call, options)
        }
        let response = try await exchange(request)
        guard response.status != 204 else { return nil }
        if let valid = events.endpoint.validStatuses, !valid.contains(response.status) {
            retryAfter = response.headers["Retry-After"].flatMap { Duration(retryAfter: $0, from: Date()) }
        }
        try await events.endpoint.requireValid(response, request, events.http.defaults)
        let type = response.headers["Content-Type"]?.prefix { $0 != ";" }.lowercased()
        guard type?.contains("text/event-stream") == true else {
            response.body.cancel()
            throw BackplaneError(
                .networkUnparsable, "expected an event stream, found a response of type `\(type ?? "")`",
                at: request.printableURL, failure: .http(response.status))
        }
        return response.body
    }
}

/// An event of a server's event stream.
public struct ServerEvent: Sendable, Equatable {
    /// The name of the event's type; `message` unless the server specifies another.
    public var name = "message"
    /// The data, without the last line break.
    public var data = ""
    /// The last identifier that the server has sent; it can continue after that event. Empty if there was none.
    public var id = ""

    /// Creates an event as a server would send it, for tests.
    public init(name: String = "message", data: String = "", id: String = "") {
        (self.name, self.data, self.id) = (name, data, id)
    }
}

/// A parser of event streams (WHATWG, HTML, section 9.2.6) that reads each byte once.
struct EventStreamParser {
    /// The maximum number of bytes of a line, and of the data of one event.
    let limit: Int
    /// The maximum number of bytes of an identifier, because servers refuse header fields that are much longer.
    static let longestID = 4_096
    private(set) var lastID: String
    private(set) var retry: Duration?
    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    /// The identifier that the next event sets.
    private var id: String
    /// The error that ends the stream after the events before it.
    private(set) var failure: BackplaneError?
    private var isAfterCR = false
    /// A Boolean value that indicates whether a byte order mark may follow.
    private var isFirstLine = true

    init(lastID: String = "", retry: Duration? = nil, limit: Int = 1 << 20) {
        (self.lastID, id, self.retry, self.limit) = (lastID, lastID, retry, limit)
    }

    /// Processes bytes, and returns the events that they complete.
    mutating func take(_ bytes: [UInt8]) throws(BackplaneError) -> [ServerEvent] {
        var events: [ServerEvent] = [], rest = bytes[...]
        while let byte = rest.first {
            if isAfterCR {
                isAfterCR = false
                if byte == UInt8(ascii: "\n") {
                    rest.removeFirst()
                    continue
                }
            }
            let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            line += rest[..<(end ?? rest.endIndex)]
            guard line.count <= limit, data.count <= limit else {
                let failure = BackplaneError(
                    .networkTooLarge,
                    "the event stream has a line or an event with more than \(limit) bytes, which is the limit"
                )
                self.failure = failure
                guard !events.isEmpty else { throw failure }
                break
            }
            guard let end else { break }
            isAfterCR = rest[end] == UInt8(ascii: "\r")
            rest = rest[rest.index(after: end)...]
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[line.index(after: $0)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            data += value
            data.append(UInt8(ascii: "\n"))
            hasData = true
        case "id": if Self.isIdentifier(value) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if let milliseconds = String(decoding: value, as: UTF8.self).wholeNumber {
                retry = .milliseconds(min(milliseconds, 86_400_000))
            }
        default: break
        }
        return nil
    }

    /// Returns whether bytes are a valid identifier for `Last-Event-ID`; others are ignored.
    private static func isIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count <= longestID && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private mutating func dispatch() -> ServerEvent? {
        lastID = id
        defer { (name, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return ServerEvent(
            name: name.isEmpty ? "message" : name, data: String(decoding: data.dropLast(), as: UTF8.self), id: id)
    }
}
