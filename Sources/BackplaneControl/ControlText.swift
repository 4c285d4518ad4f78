import Backplane

/// The wire format of requests and answers: one line of JSON each.
enum ControlText {
    /// The keys that every request has in common.
    struct Head: Decodable {
        var request: String
        /// The protocol version, or `nil` if the request, perhaps written by hand, does not state one.
        var `protocol`: Int?

        private enum CodingKeys: String, CodingKey { case request = "request", `protocol` = "protocol" }
    }

    /// A request, encoded with its own keys next to those of the head.
    struct Line<Message: ControlMessage>: Encodable {
        var message: Message

        func encode(to encoder: any Encoder) throws {
            try message.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Message.name, forKey: .request)
            try container.encode(ControlProtocol.number, forKey: .protocol)
        }

        private enum Key: String, CodingKey { case request = "request", `protocol` = "protocol" }
    }

    /// A line of an answer, which has exactly one of these four keys.
    struct Answer<Value: Decodable>: Decodable {
        var event: ControlEvent?
        /// An element of a lasting answer, as JSON.
        var element: String?
        var result: Value?
        var error: BackplaneError?

        private enum CodingKeys: String, CodingKey {
            case event = "event", element = "element", result = "result", error = "error"
        }
    }

    static func head(of bytes: [UInt8]) throws(BackplaneError) -> Head {
        do {
            return try JSON.decode(Head.self, bytes, failing: .controlMalformed)
        } catch {
            throw BackplaneError(
                .controlMalformed,
                "expected a line with a JSON object that has a `request`, such as {\"request\": \"hello\"}: \(error.message)",
                at: error.location)
        }
    }

    /// Decodes a request.
    ///
    /// - Throws: `control.malformed`, including for an unknown key, which is probably a mistake.
    static func message<Message: ControlMessage>(_: Message.Type, in bytes: [UInt8]) throws(BackplaneError) -> Message {
        let read = try JSON.decode(KnownAndUnknown<Message>.self, bytes, failing: .controlMalformed)
        if let key = read.unknownKeys.first(where: { $0 != "/request" && $0 != "/protocol" }) {
            throw BackplaneError(.controlMalformed, "the request `\(Message.name)` has no such key", at: key)
        }
        return read.value
    }

    static func result(_ json: [UInt8]) -> [UInt8] { Array(#"{"result":"#.utf8) + json + Array("}\n".utf8) }

    /// Returns the line for an element, which is encoded as a string, so that it arrives byte for byte.
    static func element(_ json: [UInt8]) -> [UInt8] { line(["element": String(decoding: json, as: UTF8.self)]) }

    static func error(_ error: BackplaneError) -> [UInt8] { line(["error": error]) }

    static func event(_ event: ControlEvent) -> [UInt8] { line(["event": event]) }

    private static func line(_ value: some Encodable) -> [UInt8] {
        // Strings always encode.
        ((try? JSON.encode(value, failing: .controlFailed)) ?? Array("{}".utf8)) + [ControlProtocol.newline]
    }
}
