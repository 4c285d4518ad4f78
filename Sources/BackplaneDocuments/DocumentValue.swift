public import FoundationEssentials

/// A value of a document, independent of its original format.
///
/// A whole number is an `integer` regardless of how it is written (`1.0` in JSON, `<real>1</real>` in a property list),
/// unless it does not fit in 64 bits.
public indirect enum DocumentValue: Sendable, Hashable {
    /// The absence of a value, which only JSON can express.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// A whole number of at most 64 bits.
    case integer(Int64)
    /// A number that is not whole or does not fit in 64 bits.
    case number(Double)
    /// A Unicode string.
    case string(String)
    /// Bytes, which only property lists can express.
    case data(Data)
    /// A date, which only property lists can express.
    case date(Date)
    /// A list of values.
    case array([DocumentValue])
    /// Values keyed by strings.
    case dictionary([String: DocumentValue])

    /// Creates the canonical value of a number, which is used for comparison and encoding.
    init(canonical number: Double) {
        self = Int64(exactly: number).map(Self.integer) ?? .number(number)
    }

    /// The kind of the value with its article, for use in messages: "a string".
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }

    /// Calls a function with the value and all values in it, each before its contents, with keys in alphabetical order.
    package func visit<Failure>(
        at path: DocumentPath = DocumentPath(), depth: Int = 0,
        _ body: (_ value: DocumentValue, _ path: DocumentPath, _ depth: Int) throws(Failure) -> Void
    ) throws(Failure) {
        try body(self, path, depth)
        switch self {
        case .array(let values):
            for (index, value) in values.enumerated() { try value.visit(at: path / index, depth: depth + 1, body) }
        case .dictionary(let members):
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                try value.visit(at: path / key, depth: depth + 1, body)
            }
        default: break
        }
    }
}

extension DocumentValue: Codable {
    /// Decodes any value of JSON or of a property list.
    ///
    /// - Throws: `DecodingError` for values that no document contains, such as a number beyond `Double`.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self.init(canonical: number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let date = try? value.decode(Date.self) {
            self = .date(date)
        } else if let data = try? value.decode(Data.self) {
            self = .data(data)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [DocumentValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(DocumentValue.self)) }
            self = .array(values)
        } else {
            self = .dictionary(try value.decode([String: DocumentValue].self))
        }
    }

    /// Encodes any value as itself, without a wrapper; infinity and NaN become `null`, because JSON lacks them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .number(let value) where !value.isFinite: try container.encodeNil()
        case .date(let value) where !value.timeIntervalSinceReferenceDate.isFinite: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .dictionary(let members): try container.encode(members)
        }
    }
}

extension DocumentValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a `null` from the literal `nil`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a `bool` from a literal `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an `integer` from digits without a point or an exponent.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a `number`, or an `integer` if the literal's value is whole.
    public init(floatLiteral value: Double) { self.init(canonical: value) }
    /// Creates a `string` from quoted text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an `array` from values in brackets.
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
    /// Creates a `dictionary` from pairs of unique keys and values in brackets.
    public init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}
