/// A JSON value (RFC 8259).
///
/// A whole number is an `integer` however it is spelled (`1.0`), unless it does not fit in 64 bits. Numbers are finite.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The number as the value it is compared and encoded as.
    init(_ number: Double) {
        self = Int64(exactly: number).map(Self.integer) ?? .number(number)
    }
}
