import Backplane

/// A request to a control socket and the type of its answer, both of which travel as JSON.
///
/// ```swift
/// struct CountShelves: ControlMessage {
///     static let name = "count-shelves"
///     typealias Answer = Int
///     var floor: Int
/// }
/// ```
public protocol ControlMessage: Codable, Sendable {
    /// The value with which the host answers.
    associatedtype Answer: Codable & Sendable
    /// The name of the request, unique among the requests that a socket answers.
    static var name: String { get }
}

/// A progress report on a request that takes some time.
public struct ControlEvent: Codable, Sendable, Hashable {
    /// A short description of the current activity.
    public var text: String

    /// Creates a progress report.
    public init(_ text: String) { self.text = text }
}

extension KeyedDecodingContainer {
    /// Decodes a flag of a request, which is false if it is missing.
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try decodeIfPresent(Bool.self, forKey: key) ?? false }
}

/// The constants of the control protocol, which `docs/reference/control.md` describes.
package enum ControlProtocol {
    /// The version of the protocol, which is incremented when an older peer could misunderstand a newer one.
    package static let number = 1
    /// The maximum size of a request in bytes, including the input of `call`.
    package static let requestLimit = 64 << 20
    /// The time within which a peer must read data.
    static let writingLimit = Duration.seconds(30)
    /// The number of bytes that are read at once.
    static let chunk = 65_536

    static let newline = UInt8(ascii: "\n")
}

/// The wire format of requests and answers: one line of JSON each.
enum ControlText {
    /// The keys that every request has in common.
    struct Head: Codable {
        var request: String
        /// The protocol version, or `nil` if the request, perhaps written by hand, does not state one.
        var `protocol`: Int?
    }

    /// A request, encoded with its own keys next to the keys of the head.
    struct Line<Message: ControlMessage>: Encodable {
        var message: Message

        func encode(to encoder: any Encoder) throws {
            try message.encode(to: encoder)
            try Head(request: Message.name, protocol: ControlProtocol.number).encode(to: encoder)
        }
    }

    /// A line of an answer, which has exactly one of these four keys.
    struct Answer<Value: Decodable>: Decodable {
        var event: ControlEvent?
        /// An element of a lasting answer, as JSON.
        var element: String?
        var result: Value?
        var error: BackplaneError?
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

    /// Returns the last line of an answer.
    static func answer(_ outcome: Result<[UInt8], BackplaneError>) -> [UInt8] {
        switch outcome {
        case .success(let json): result(json)
        case .failure(let error): self.error(error)
        }
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
