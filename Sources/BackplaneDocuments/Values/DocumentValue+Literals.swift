extension DocumentValue: ExpressibleByNilLiteral {
    /// Creates a null.
    public init(nilLiteral: ()) { self = .null }
}

extension DocumentValue: ExpressibleByBooleanLiteral {
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension DocumentValue: ExpressibleByIntegerLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension DocumentValue: ExpressibleByFloatLiteral {
    /// Creates a number; a whole one becomes an integer.
    public init(floatLiteral value: Double) { self.init(canonical: value) }
}

extension DocumentValue: ExpressibleByStringLiteral {
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension DocumentValue: ExpressibleByArrayLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
}

extension DocumentValue: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary.
    ///
    /// - Precondition: The keys are unique.
    public init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}
