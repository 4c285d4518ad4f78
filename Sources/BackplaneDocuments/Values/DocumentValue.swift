public import FoundationEssentials

/// A value of a document, whichever spelling it was read from.
///
/// A whole number is an `integer` however it is spelled (`1.0` in JSON, `<real>1</real>` in a property list), unless it
/// does not fit in 64 bits.
public indirect enum DocumentValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case array([DocumentValue])
    case dictionary([String: DocumentValue])

    /// The kind of value, with its article, for messages: "a string".
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

    /// The number as the value it is compared and encoded as.
    init(canonical number: Double) {
        self = Int64(exactly: number).map(Self.integer) ?? .number(number)
    }
}
