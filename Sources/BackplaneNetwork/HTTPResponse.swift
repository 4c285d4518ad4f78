import Synchronization

/// An HTTP response with its complete body.
public struct HTTPResponse: Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty for a response without one, or if it was written to a file.
    public var body: [UInt8]
    /// The URL after redirects; `nil` if there were none.
    public var url: String?
    /// The durations of the exchange's phases.
    public var timings = HTTPTimings()
    /// The origin of the response.
    public var source = ResponseSource.network
    /// The age of a response from a cache (RFC 9111, section 4.2.3); `nil` for any other response.
    public var age: Duration?
    /// The acceptance that stores the response; `nil` if it is not to be stored.
    package var acceptance: CacheAcceptance?
    /// A Boolean value that indicates whether the response is stale, and another load should replace it.
    package var isStale = false

    /// Creates a response, by default without header fields and body.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension HTTPResponse: Equatable {
    /// Returns whether two responses are equal apart from their URLs, timings and sources.
    public static func == (a: Self, b: Self) -> Bool {
        a.status == b.status && a.headers == b.headers && a.body == b.body
    }
}

/// An HTTP response whose head has arrived, and whose body has yet to be read.
///
/// ```swift
/// let response = try await network.open(HTTPRequest("GET", url))
/// for try await chunk in response.body { … }
/// ```
///
/// Releasing a response before its body has been read to the end ends the exchange.
public struct HTTPStreamedResponse: Sendable {
    /// The status code of the final response, from 200 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The version of the protocol, such as `HTTP/1.1`, if the executor knows it.
    public var version: String?
    /// The body, which can be read once.
    public var body: HTTPBodyStream
    /// The URL after redirects; `nil` if there were none.
    public var url: String?
    /// The durations of the phases up to the head.
    ///
    /// The duration of the body is known once the response has been collected.
    public var timings = HTTPTimings()
    /// The origin of the response.
    public var source = ResponseSource.network
    /// The age of a response from a cache (RFC 9111, section 4.2.3); `nil` for any other response.
    public var age: Duration?
    /// The acceptance that stores the response; `nil` if it is not to be stored.
    package var acceptance: CacheAcceptance?
    /// A Boolean value that indicates whether the response is stale, and another load should replace it.
    package var isStale = false
    /// A Boolean value that indicates whether the body has already been received, and its progress reported.
    package var isReceived = false

    /// Creates a response whose body streams.
    public init(status: Int, headers: HTTPHeaders = [:], version: String? = nil, body: HTTPBodyStream) {
        (self.status, self.headers, self.version, self.body) = (status, headers, version, body)
    }

    /// Creates a response whose body is in memory.
    public init(_ response: HTTPResponse) {
        self.init(status: response.status, headers: response.headers, body: HTTPBodyStream(response.body))
        (url, timings, source, age) = (response.url, response.timings, response.source, response.age)
        (acceptance, isStale) = (response.acceptance, response.isStale)
    }

    package var isFromCache: Bool { source == .memory || source == .disk }

    package var head: HTTPResponse {
        var head = HTTPResponse(status: status, headers: headers)
        (head.url, head.timings, head.source, head.age) = (url, timings, source, age)
        (head.acceptance, head.isStale) = (acceptance, isStale)
        return head
    }

    /// The announced length of the body in bytes, before any decoding; `nil` if the server does not announce it.
    public var contentLength: Int64? {
        headers["Content-Length"].flatMap(\.wholeNumber)
    }

    /// Reads the body to its end.
    ///
    /// - Throws: `network.too-large` as soon as the body exceeds the limit; the error that ended the exchange.
    public func collect(upTo limit: Int = HTTPOptions.collectionLimit) async throws -> HTTPResponse {
        let start = ContinuousClock.now
        var response = head
        response.body = try await body.collect(upTo: limit)
        response.timings.body = .now - start
        return response
    }

    /// Writes the body to a file, which appears once it is complete.
    ///
    /// - Parameter path: The path of the file, which replaces an existing one. Only its owner may read it.
    /// - Returns: The response without a body.
    /// - Throws: `network.file` if the file cannot be written; the error that ended the exchange.
    public func write(to path: String) async throws -> HTTPResponse {
        let start = ContinuousClock.now
        try await body.write(to: path)
        var response = head
        response.timings.body = .now - start
        return response
    }
}

extension HTTPStreamedResponse {
    /// Returns the response of an interceptor that has answered by itself; `nil` if its body is in the written file.
    ///
    /// An interceptor may also have wrapped the empty body of the file's response, and passes on the bytes that it
    /// reads from that body.
    package func answer(insteadOf written: HTTPBodyStream?) async throws -> HTTPStreamedResponse? {
        if let written, written.isSame(as: body) { return nil }
        let first = try await body.next()
        if first == nil, written?.hasEnded == true { return nil }
        var answer = self
        let rest = body, begin = Mutex(first)
        answer.body = HTTPBodyStream(cancel: rest.cancel) {
            if let first = begin.withLock({ $0.take() }) { return first }
            return try await rest.next()
        }
        return answer
    }
}

/// The durations of an exchange's phases.
public struct HTTPTimings: Sendable {
    /// The number of attempts, including the one that succeeded.
    public var attempts = 1
    /// The time from the start of the exchange to the head of the response.
    public var head: Duration?
    /// The time from the head to the end of the body.
    public var body: Duration?

    /// Creates timings without any values.
    public init() {}
}
