extension JSONValue: ExpressibleByNilLiteral {
    /// Creates a `null` from the literal `nil`.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    /// Creates a `bool` from a literal `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    /// Creates an `integer` from digits without a point or an exponent.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral {
    /// Creates a `number`, or an `integer` if the literal's value is whole.
    public init(floatLiteral value: Double) { self.init(canonical: value) }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// Creates a `string` from quoted text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    /// Creates an `array` from values in brackets.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Creates an `object` from pairs of keys and values in brackets.
    ///
    /// - Precondition: The keys are unique.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }
}
