extension DocumentValue: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension DocumentValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension DocumentValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension DocumentValue: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(canonical: value) }
}

extension DocumentValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension DocumentValue: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
}

extension DocumentValue: ExpressibleByDictionaryLiteral {
    /// - Precondition: no key is given twice.
    public init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}
