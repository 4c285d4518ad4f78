extension ManifestValue: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension ManifestValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension ManifestValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension ManifestValue: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(canonical: value) }
}

extension ManifestValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension ManifestValue: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: ManifestValue...) { self = .array(elements) }
}

extension ManifestValue: ExpressibleByDictionaryLiteral {
    /// - Precondition: no key is given twice.
    public init(dictionaryLiteral elements: (String, ManifestValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}
