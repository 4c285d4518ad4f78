import BackplaneDocuments
import FoundationEssentials

/// An argument of a method, or a value in it.
indirect enum ArgumentValue: Sendable {
    case null
    case bool(Bool)
    /// A number in JSON's notation.
    case number(String)
    case text(String)
    case bytes([UInt8])
    case file(FilePart)
    case array([ArgumentValue])
    case object([String: ArgumentValue])

    /// The kind of the value with its article, for use in messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .text: "a text"
        case .bytes: "data"
        case .file: "a file"
        case .array: "an array"
        case .object: "an object"
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }
}

extension ArgumentValue {
    /// Creates a number; `nil` if JSON cannot represent it.
    init?(_ number: Double) {
        guard number.isFinite else { return nil }
        self = .number(Int64(exactly: number).map { "\($0)" } ?? "\(number)")
    }

    /// Creates a value of a definition or of a contract's input.
    init(_ value: DocumentValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .number("\(value)")
            case .number(let value): ArgumentValue(value) ?? .null
            case .string(let value): .text(value)
            case .data(let value): .bytes(Array(value))
            case .date(let value): ArgumentValue(value.timeIntervalSinceReferenceDate) ?? .null
            case .array(let values): .array(values.map { ArgumentValue($0) })
            case .dictionary(let members): .object(members.mapValues { ArgumentValue($0) })
            }
    }

    /// The value as JSON, with sorted keys; data becomes base64.
    ///
    /// - Throws: ``NotJSON`` for a file.
    func json() throws(NotJSON) -> [UInt8] {
        var bytes: [UInt8] = []
        try write(to: &bytes)
        return bytes
    }

    /// The error for a value that JSON cannot represent.
    struct NotJSON: Error {}

    private func write(to bytes: inout [UInt8]) throws(NotJSON) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .text(let text): bytes += text.json
        case .bytes(let data): bytes += Data(data).base64EncodedString().json
        case .file: throw NotJSON()
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (key, value)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += key.json
                bytes.append(UInt8(ascii: ":"))
                try value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
