import CBackplane
import FoundationEssentials

/// The JSON that crosses the boundary: Foundation's coders with their defaults, so dates are seconds since the
/// reference date.
package enum JSON {
    // All can be shared: coding only reads their options, which never change.
    private static let encoder = JSONEncoder()
    private static let sortingEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }()
    private static let decoder = JSONDecoder()

    package static func encode(_ value: some Encodable, failing code: BackplaneError.Code) throws(BackplaneError)
        -> [UInt8]
    {
        try encodeData(value, failing: code).withUnsafeBytes { Array($0) }
    }

    /// Encodes a value with the keys of all objects sorted, so that equal dictionaries yield equal bytes.
    package static func encodeSorted(_ value: some Encodable, failing code: BackplaneError.Code) throws(BackplaneError)
        -> [UInt8]
    {
        try encodeData(value, failing: code, with: sortingEncoder).withUnsafeBytes { Array($0) }
    }

    /// Encodes a value without copying the encoder's output.
    static func encodeData(
        _ value: some Encodable, failing code: BackplaneError.Code, with encoder: JSONEncoder = encoder
    ) throws(BackplaneError) -> Data {
        do {
            return try encoder.encode(value)
        } catch let error as EncodingError {
            let mistake = JSONMistake(error)
            throw BackplaneError(code, mistake.text, at: mistake.path)
        } catch {
            throw BackplaneError(code, String(describing: error))
        }
    }

    package static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: [UInt8], failing code: BackplaneError.Code
    ) throws(BackplaneError) -> Value {
        try bytes.withUnsafeBufferPointer { bytes throws(BackplaneError) in try decode(type, bytes, failing: code) }
    }

    /// Decodes a value from borrowed bytes.
    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: bp_bytes, failing code: BackplaneError.Code)
        throws(BackplaneError) -> Value
    {
        try decode(type, bytes.lent, failing: code)
    }

    /// Returns the mistake in a text that cannot be decoded as a type; `nil` if it can be decoded, or if the reason is
    /// not its JSON.
    static func mistake<Value: Decodable>(decoding _: Value.Type, from text: String) -> JSONMistake? {
        let data = Data(text.utf8)
        do {
            _ = try decoder.decode(Value.self, from: data)
            return nil
        } catch {
            return (error as? DecodingError).map { JSONMistake($0, in: data) }
        }
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>, failing code: BackplaneError.Code
    ) throws(BackplaneError) -> Value {
        do {
            return try decoder.decode(type, from: Data(lending: bytes))
        } catch let error as DecodingError {
            let mistake = JSONMistake(error, in: Data(lending: bytes))
            throw BackplaneError(code, mistake.text, at: mistake.path)
        } catch {
            throw BackplaneError(code, String(describing: error))
        }
    }
}

extension Data {
    /// Lends the bytes for the duration of `body`.
    func withBytes<Result>(_ body: (bp_bytes) -> Result) -> Result {
        withUnsafeBytes { body(bp_bytes(data: $0.bindMemory(to: UInt8.self).baseAddress, length: $0.count)) }
    }

    /// Wraps borrowed bytes without a copy, for a decoder, which does not retain them.
    fileprivate init(lending bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress {
            self.init(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
        } else {
            self.init()
        }
    }
}

/// The message of a coding error in JSON's terms, and the path of the value it concerns.
struct JSONMistake {
    var text: String
    /// The path as a JSON pointer; `nil` for the whole value.
    var path: String?
    /// A Boolean value that indicates whether a value is missing or of another kind of JSON.
    var isOfKind = false

    private init(_ text: String, _ path: [any CodingKey], cause: (any Error)? = nil) {
        self.text = text
        if let detail = Self.detail(of: cause) { self.text += " \(detail)" }
        self.path = path.isEmpty ? nil : path.pointer
    }

    init(_ error: EncodingError) {
        self =
            switch error {
            case .invalidValue(_, let context):
                JSONMistake(context.debugDescription, context.codingPath, cause: context.underlyingError)
            @unknown default: JSONMistake(String(describing: error), [])
            }
    }

    /// Creates the message of an error that decoding `data` has thrown.
    init(_ error: DecodingError, in data: Data) {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            // A type with custom coding may refuse a value of the right kind, with its own message.
            guard let expected = Self.name(of: type), let found = JSONKind.find(at: context.codingPath, in: data),
                expected != found
            else {
                self.init(context, in: data)
                return
            }
            self.init("expected \(expected), found \(found)", context.codingPath)
            isOfKind = true
        case .keyNotFound(let key, let context):
            self.init("`\(key.stringValue)` is missing", context.codingPath + [key])
            isOfKind = true
        case .dataCorrupted(let context):
            guard context.debugDescription == "The given data was not valid JSON." else {
                self.init(context, in: data)
                return
            }
            // Foundation's message for invalid JSON, and also for a number that does not fit its type.
            let isJSON = JSONKind.find(at: [], in: data) != nil
            self.init(
                isJSON
                    ? "a number is not an integer, or is too large for its type"
                    : "expected JSON, found text that is malformed or too deeply nested",
                context.codingPath, cause: context.underlyingError)
        @unknown default: self.init(String(describing: error), [])
        }
    }

    /// Creates the message from the error's own description or, if it has none, from the value found.
    private init(_ context: DecodingError.Context, in data: Data) {
        let found = JSONKind.find(at: context.codingPath, in: data) ?? "something else"
        let isSilent = context.debugDescription.isEmpty
        self.init(
            isSilent ? "expected another value, found \(found)" : context.debugDescription, context.codingPath,
            cause: context.underlyingError)
    }

    private static func detail(of cause: (any Error)?) -> String? {
        (cause as? CocoaError)?.userInfo["NSDebugDescription"] as? String
    }

    /// Returns JSON's name for the values from which a type is decoded; `nil` if Foundation's decoder never requests
    /// the type.
    private static func name(of type: any Any.Type) -> String? {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "a boolean"
        case is any BinaryInteger.Type: "an integer"
        case is any BinaryFloatingPoint.Type, is Decimal.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        // Containers are generic. Foundation's decoder requests them by name only if it finds null.
        default:
            if "\(type)".hasPrefix("KeyedDecodingContainer") {
                "an object"
            } else {
                "\(type)" == "UnkeyedDecodingContainer" ? "an array" : nil
            }
        }
    }
}

/// The kind of a JSON value, such as a string or an object.
private struct JSONKind: Decodable {
    private let name: String
    private static let path = CodingUserInfoKey(rawValue: "path")!

    /// Returns the kind of the value at a path; `nil` if there is none.
    static func find(at path: [any CodingKey], in data: Data) -> String? {
        let decoder = JSONDecoder()
        decoder.userInfo[Self.path] = path
        return try? decoder.decode(JSONKind.self, from: data).name
    }

    init(from decoder: any Decoder) throws {
        var inner = decoder
        for key in decoder.userInfo[Self.path] as? [any CodingKey] ?? [] { inner = try Self.value(of: key, in: inner) }
        name = Self.name(of: inner)
    }

    private static func value(of key: any CodingKey, in decoder: any Decoder) throws -> any Decoder {
        if let object = try? decoder.container(keyedBy: TextKey.self) {
            return try object.superDecoder(forKey: TextKey(key.stringValue))
        }
        var array = try decoder.unkeyedContainer()
        for _ in 0..<max(0, key.intValue ?? 0) { _ = try array.superDecoder() }
        return try array.superDecoder()
    }

    private static func name(of decoder: any Decoder) -> String {
        if let value = try? decoder.singleValueContainer() {
            if value.decodeNil() { return "null" }
            if (try? value.decode(Bool.self)) != nil { return "a boolean" }
            if (try? value.decode(String.self)) != nil { return "a string" }
            if (try? value.decode(Double.self)) != nil { return "a number" }
        }
        return (try? decoder.unkeyedContainer()) == nil ? "an object" : "an array"
    }
}

extension [any CodingKey] {
    /// The path as a JSON pointer.
    var pointer: String { map(\.pointerStep).joined() }
}

extension CodingKey {
    /// The key as a reference token of a JSON pointer (RFC 6901), after its slash.
    var pointerStep: String {
        if let intValue { return "/\(intValue)" }
        // By scalars: a slash followed by a combining mark is a different character, but still a slash in the pointer.
        var step = "/"
        for scalar in stringValue.unicodeScalars {
            switch scalar {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.unicodeScalars.append(scalar)
            }
        }
        return step
    }
}

/// A coding key for any key of a JSON object.
///
/// All hand-written coding uses this one type: an enum of keys would add six conformances to every plugin.
package struct TextKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ text: String) { stringValue = text }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
