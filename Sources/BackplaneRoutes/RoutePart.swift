import Backplane
public import BackplaneNetwork
import FoundationEssentials

/// An element of an answer that is sent in pieces.
public enum RoutePart: Sendable {
    /// The head, which is the first element unless the request is resumed.
    case head(RouteHead)
    /// The next bytes of the body, best up to 64 KB.
    case body([UInt8])
    /// The next event, which the server writes as in an event stream.
    case event(ServerEvent)
}

/// The status and the header fields of an answer.
public struct RouteHead: Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields; the server adds the fields that frame the message.
    public var headers: HTTPHeaders

    /// Creates the beginning of an answer.
    public init(status: Int = 200, headers: HTTPHeaders = [:]) {
        (self.status, self.headers) = (status, headers)
    }

    /// The reason why the head cannot be sent, in a sentence; `nil` for a valid one.
    package var mistake: String? {
        guard (200...599).contains(status) else { return "expected a status from 200 to 599, found \(status)" }
        for field in headers.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter) else {
                return "`\(field.name)` is not the name of a header field"
            }
            guard field.value.utf8.allSatisfy({ $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F }) else {
                return "the header field `\(field.name)` contains a control character"
            }
        }
        return nil
    }
}

extension RouteResponse {
    /// The status and the header fields.
    package var head: RouteHead { RouteHead(status: status, headers: headers) }
}

extension ServerEvent {
    /// Returns an event with a value as JSON.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name of the event's type.
    ///   - id: The identifier, after which the events continue if the connection or the plugin is replaced.
    /// - Throws: The encoder's error.
    public static func json(_ value: some Encodable, name: String = "message", id: String = "") throws -> ServerEvent {
        ServerEvent(name: name, data: String(decoding: try RouteJSON.encoder.encode(value), as: UTF8.self), id: id)
    }

    /// The event as in an event stream (WHATWG, HTML, section 9.2.5), with the empty line at its end.
    ///
    /// A name or an identifier with characters that a line cannot contain is omitted.
    package var text: String {
        var text = ""
        if name != "message", name.isOnOneLine { text += "event: \(name)\n" }
        if !id.isEmpty, id.isOnOneLine { text += "id: \(id)\n" }
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: \.endsLine) {
            text += "data: \(line)\n"
        }
        return text + "\n"
    }
}

extension Character {
    fileprivate var endsLine: Bool { self == "\n" || self == "\r" || self == "\r\n" }
}

extension String {
    fileprivate var isOnOneLine: Bool { !utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
}

// By hand, as for requests. The only key of a part is the name of its case.

extension RoutePart: Codable {
    /// Decodes a part from an object whose only key is `head`, `body` or `event`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self), keys = values.allKeys.map(\.stringValue)
        if keys.contains("body") {
            self = .body(Array(try values.decode(Data.self, forKey: .body)))
        } else if keys.contains("event") {
            let event = try values.nestedContainer(keyedBy: TextKey.self, forKey: .event)
            self = .event(
                ServerEvent(
                    name: try event.decodeIfPresent(String.self, forKey: .name) ?? "message",
                    data: try event.decode(String.self, forKey: .data),
                    id: try event.decodeIfPresent(String.self, forKey: .id) ?? ""))
        } else {
            self = .head(try values.decode(RouteHead.self, forKey: .head))
        }
    }

    /// Encodes a part as an object with one key.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        switch self {
        case .head(let head): try values.encode(head, forKey: .head)
        case .body(let bytes): try values.encode(Data(bytes), forKey: .body)
        case .event(let event):
            var fields = values.nestedContainer(keyedBy: TextKey.self, forKey: .event)
            try fields.encode(event.name, forKey: .name)
            try fields.encode(event.data, forKey: .data)
            try fields.encode(event.id, forKey: .id)
        }
    }
}

extension RouteHead: Codable {
    /// Decodes a head from an object with its properties; only the status is required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        status = try values.decode(Int.self, forKey: .status)
        headers = try values.decodeIfPresent(HTTPHeaders.self, forKey: .headers) ?? [:]
    }

    /// Encodes a head as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(status, forKey: .status)
        try values.encode(headers, forKey: .headers)
    }
}

extension TextKey {
    fileprivate static let head = TextKey("head")
    fileprivate static let event = TextKey("event")
    fileprivate static let name = TextKey("name")
    fileprivate static let data = TextKey("data")
    fileprivate static let id = TextKey("id")
}
