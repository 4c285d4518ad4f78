/// An HTTP response with its complete body.
public struct HTTPResponse: Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty for a response without one, or if it was written to a file.
    public var body: [UInt8]
    /// The durations of the exchange's phases.
    public var timings = HTTPTimings()

    /// Creates a response, by default without header fields and body.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension HTTPResponse: Equatable {
    /// Returns whether two responses are equal apart from their timings.
    public static func == (a: Self, b: Self) -> Bool {
        a.status == b.status && a.headers == b.headers && a.body == b.body
    }
}
