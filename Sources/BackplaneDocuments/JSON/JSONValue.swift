/// A JSON value (RFC 8259).
///
/// A whole number is an `integer` regardless of how it is written (`1.0`), unless it does not fit in 64 bits. Numbers
/// are finite.
public indirect enum JSONValue: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case bool(Bool)
    /// A whole number of at most 64 bits.
    case integer(Int64)
    /// A number that is not whole or does not fit in 64 bits.
    case number(Double)
    /// A Unicode string.
    case string(String)
    /// A list of values.
    case array([JSONValue])
    /// Values keyed by strings.
    case object([String: JSONValue])
}
