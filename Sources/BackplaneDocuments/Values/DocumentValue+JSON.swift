public import FoundationEssentials

extension DocumentValue {
    /// Creates a document value from a JSON value.
    public init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .number(let value): .number(value)
            case .string(let value): .string(value)
            case .array(let values): .array(values.map { DocumentValue($0) })
            case .object(let members): .dictionary(members.mapValues { DocumentValue($0) })
            }
    }

    /// The value as JSON, with sorted keys and without spaces.
    ///
    /// Equal values produce equal bytes.
    ///
    /// Data becomes base64, and a date its seconds since the reference date, as `JSONDecoder` expects by default.
    /// Infinity and NaN, which JSON lacks and only a property list can contain, become `null`.
    public var json: Data { JSONValue(self).json }

    /// The locations and kinds of values for which JSON has no type, with keys in alphabetical order.
    package var foreignToJSON: [(location: String, kind: String)] {
        var found: [(String, String)] = []
        collectForeign(at: DocumentPath(), &found)
        return found
    }

    private func collectForeign(at path: DocumentPath, _ found: inout [(String, String)]) {
        switch self {
        case .data, .date: found.append((path.description, kind))
        case .array(let values):
            for (index, value) in values.enumerated() { value.collectForeign(at: path / index, &found) }
        case .dictionary(let members):
            for (key, value) in members.sorted(by: { $0.key < $1.key }) { value.collectForeign(at: path / key, &found) }
        default: break
        }
    }
}

extension JSONValue {
    /// Creates a JSON value from a document value.
    ///
    /// Data becomes base64, a date its seconds since the reference date, and a number that is not finite `null`.
    public init(_ value: DocumentValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .number(let value): value.isFinite ? .number(value) : .null
            case .string(let value): .string(value)
            case .data(let value): .string(value.base64EncodedString())
            case .date(let value):
                value.timeIntervalSinceReferenceDate.isFinite
                    ? JSONValue(canonical: value.timeIntervalSinceReferenceDate) : .null
            case .array(let values): .array(values.map { JSONValue($0) })
            case .dictionary(let members): .object(members.mapValues { JSONValue($0) })
            }
    }
}
