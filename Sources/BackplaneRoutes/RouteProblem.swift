package import Backplane
public import BackplaneNetwork
import FoundationEssentials

/// An error that is answered with a status and its description as `application/problem+json` (RFC 9457).
///
/// ```swift
/// throw RouteProblem(404, "there is no book with the number 7")
/// ```
///
/// Any other error that a route throws fails the call; the answer has the status of the error's code, or 500. The
/// error's description is written to the log, not sent.
public struct RouteProblem: Error, Sendable {
    /// The status code, from 400 to 599.
    public var status: Int
    /// The summary, which is the same for all problems of the kind.
    public var title: String
    /// The description of this occurrence; `nil` for none.
    public var detail: String?
    /// The mistakes of a request's fields, by their names or paths.
    public var fields: [String: String]
    /// Further header fields of the answer.
    public var headers: HTTPHeaders

    /// Creates an error whose description is sent to the client.
    ///
    /// - Parameters:
    ///   - status: The status code, from 400 to 599.
    ///   - detail: The description of this occurrence.
    ///   - title: The summary. Default: the name of the status.
    ///   - fields: The mistakes of a request's fields, by their names or paths.
    ///   - headers: Further header fields of the answer.
    public init(
        _ status: Int, _ detail: String? = nil, title: String? = nil, fields: [String: String] = [:],
        headers: HTTPHeaders = [:]
    ) {
        (self.status, self.title, self.detail) = (status, title ?? Self.name(of: status), detail)
        (self.fields, self.headers) = (fields, headers)
    }

    /// The answer, an object with `status`, `title`, and `detail` and `fields` where present.
    public var response: RouteResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A problem consists of texts, which can always be encoded.
        let body = (try? encoder.encode(self)) ?? Data()
        var headers = headers
        headers["Content-Type"] = "application/problem+json"
        return RouteResponse(status: status, headers: headers, body: Array(body))
    }

    private static func name(of status: Int) -> String {
        names.first { $0.status == status }?.name ?? (status < 500 ? "Bad Request" : "Internal Server Error")
    }

    private static let names: [(status: Int, name: String)] = [
        (400, "Bad Request"), (401, "Unauthorized"), (402, "Payment Required"), (403, "Forbidden"),
        (404, "Not Found"), (405, "Method Not Allowed"), (406, "Not Acceptable"), (408, "Request Timeout"),
        (409, "Conflict"), (410, "Gone"), (411, "Length Required"), (412, "Precondition Failed"),
        (413, "Content Too Large"), (414, "URI Too Long"), (415, "Unsupported Media Type"),
        (416, "Range Not Satisfiable"), (422, "Unprocessable Content"), (423, "Locked"),
        (428, "Precondition Required"), (429, "Too Many Requests"), (431, "Request Header Fields Too Large"),
        (451, "Unavailable For Legal Reasons"), (500, "Internal Server Error"), (501, "Not Implemented"),
        (502, "Bad Gateway"), (503, "Service Unavailable"), (504, "Gateway Timeout"),
    ]
}

extension RouteProblem: Encodable {
    /// Encodes the problem as its ``response`` contains it.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(status, forKey: .status)
        try values.encode(title, forKey: .title)
        try values.encodeIfPresent(detail, forKey: .detail)
        if !fields.isEmpty { try values.encode(fields, forKey: .fields) }
    }
}

extension TextKey {
    fileprivate static let title = TextKey("title")
    fileprivate static let detail = TextKey("detail")
    fileprivate static let fields = TextKey("fields")
}

extension RouteProblem {
    /// Creates the problem with which a server answers a call that has ended with an error.
    ///
    /// The problem does not describe the error, which the server writes to the log under the component's name.
    ///
    /// | code | status |
    /// |---|---|
    /// | `call.deadline` | 504 |
    /// | `call.overloaded`, `call.retired`, `call.cancelled` | 503 |
    /// | `stream.interrupted`, `route.unknown`, `host.stopped` | 503 |
    /// | any other | 500 |
    ///
    /// Here a cancelled call was ended by a swap or a stop and may be repeated, because a client that has left does not
    /// read the answer.
    package init(answering error: BackplaneError) {
        switch error.code {
        case .callDeadline: self.init(504)
        case .callOverloaded, .callRetired, .callCancelled, .streamInterrupted, .routeUnknown, .hostStopped:
            self.init(503, headers: ["Retry-After": "1"])
        default: self.init(500)
        }
    }
}
