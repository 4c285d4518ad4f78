public import FoundationEssentials

extension DocumentValue {
    /// The value as JSON, with sorted keys and without spaces.
    ///
    /// Equal values produce equal bytes.
    ///
    /// Data becomes base64, and a date becomes its seconds since the reference date, as `JSONDecoder` expects by
    /// default. Infinity and NaN, which only a property list can contain, become `null`.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return try encoder.encode(self) } catch { preconditionFailure("a value that JSON lacks: \(error)") }
    }

    /// Returns the value as human-readable JSON, with two spaces per level and short flat values on one line.
    func readableJSON(_ order: some MemberOrder, indent: String = "") -> [UInt8] {
        let inner = indent + "  "
        switch self {
        case .array(let values) where !values.isEmpty:
            let parts = values.map { $0.readableJSON(order.elements, indent: inner) }
            return Self.block("[", parts, "]", isFlat: values.allSatisfy(\.isScalar), indent)
        case .dictionary(let members) where !members.isEmpty:
            let parts = order.ordered(members).map { key, value in
                key.json + Array(": ".utf8) + value.readableJSON(order.member(key), indent: inner)
            }
            return Self.block("{", parts, "}", isFlat: members.values.allSatisfy(\.isScalar), indent)
        default: return Array(json)
        }
    }

    /// Returns parts between brackets: on one line if they are flat and short enough, otherwise one per line.
    private static func block(_ open: String, _ parts: [[UInt8]], _ close: String, isFlat: Bool, _ indent: String)
        -> [UInt8]
    {
        let space = open == "{" ? " " : ""
        let line = Array((open + space).utf8) + parts.joined(separator: ", ".utf8) + Array((space + close).utf8)
        if isFlat, line.count <= 80 { return line }
        return Array("\(open)\n\(indent)  ".utf8) + parts.joined(separator: ",\n\(indent)  ".utf8)
            + Array("\n\(indent)\(close)".utf8)
    }

    private var isScalar: Bool {
        switch self {
        case .array(let values): values.isEmpty
        case .dictionary(let members): members.isEmpty
        default: true
        }
    }
}

extension String {
    /// The text as a JSON string, with its quotes.
    package var json: [UInt8] { Array(DocumentValue.string(self).json) }
}
