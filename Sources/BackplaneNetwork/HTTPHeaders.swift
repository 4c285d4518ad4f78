/// Header fields in order.
///
/// Names are compared case-insensitively (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A line of the header: a name and its value.
    public struct Field: Sendable, Hashable {
        /// The name as it was given.
        public var name: String
        /// The value as it was given.
        public var value: String
    }
    /// The fields in the order in which they were added.
    public private(set) var fields: [Field] = []

    /// Creates header fields from a literal, in its order.
    ///
    /// A name may occur several times.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map(Field.init)
    }

    /// The first value of a name.
    ///
    /// Setting replaces all fields of that name; `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// Adds a field after all others, without replacing any of the same name.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    private static func equal(_ a: String, _ b: String) -> Bool { a.lowercased() == b.lowercased() }
}
