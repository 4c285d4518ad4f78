/// The value of an indexed property.
///
/// Every store orders values in the same way: `null`, `false`, `true`, numbers by value, strings by their UTF-8 bytes.
/// An integer equals the number of the same value, so `1` and `1.0` are one value.
public enum IndexedValue: Sendable {
    /// No value.
    case null
    /// Either `true` or `false`.
    case boolean(Bool)
    /// An integer, compared exactly.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string, ordered by its UTF-8 bytes.
    case text(String)
}

extension IndexedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a string, for example in a condition such as `== "Melville"`.
    public init(stringLiteral text: String) { self = .text(text) }
    /// Creates an integer, for example in a condition such as `>= 1851`.
    public init(integerLiteral integer: Int64) { self = .integer(integer) }
    /// Creates a number.
    public init(floatLiteral number: Double) { self = .number(number) }
    /// Creates `true` or `false`, for example in a condition on a flag.
    public init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
}
