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
}
