/// Header fields in the order they were given; names are compared without regard to case (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String
    }
    public private(set) var fields: [Field] = []

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map(Field.init)
    }

    /// The first value of a name; setting replaces all of them, `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    private static func equal(_ a: String, _ b: String) -> Bool { a.lowercased() == b.lowercased() }
}
