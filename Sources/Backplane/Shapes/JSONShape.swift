/// The shape of the JSON that a type is encoded as, as far as decoding the type once tells.
package indirect enum JSONShape: Sendable, Hashable {
    /// A property of an object.
    package struct Property: Sendable, Hashable {
        package var name: String
        package var shape: JSONShape
        package var isOptional: Bool
    }
    /// Any JSON: nothing is known.
    case any
    case null, boolean, integer, number, string
    /// A string that is one of these.
    case oneOf([String])
    case array(JSONShape)
    /// An object with any keys.
    case dictionary(JSONShape)
    /// An object with these properties in the order of decoding, and perhaps others if it is not complete.
    case object([Property], isComplete: Bool)
}

extension JSONShape: CustomStringConvertible {
    /// The shape on a line: `{"title": string, "year": integer?, "tags": [string]}`.
    package var description: String {
        switch self {
        case .any: "any JSON"
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .oneOf(let texts): texts.map { "\"\($0)\"" }.joined(separator: " | ")
        case .array(let element): "[\(element)]"
        case .dictionary(let value): "{string: \(value)}"
        case .object(let properties, let isComplete):
            "{"
                + (properties.map { "\"\($0.name)\": \($0.shape)\($0.isOptional ? "?" : "")" }
                    + (isComplete ? [] : ["…"])).joined(separator: ", ") + "}"
        }
    }

    /// JSON of the shape, to be changed and passed to the method; `nil` if too little is known.
    package var example: String? {
        switch self {
        case .any: nil
        case .null: "null"
        case .boolean: "true"
        case .integer: "1"
        case .number: "1.5"
        case .string: #""text""#
        case .oneOf(let texts): texts.first.map { "\"\($0)\"" }
        case .array(let element): element.example.map { "[\($0)]" } ?? "[]"
        case .dictionary(let value): value.example.map { #"{"name": \#($0)}"# } ?? "{}"
        case .object(_, isComplete: false): nil
        case .object(let properties, isComplete: true):
            properties.filter { !$0.isOptional }.reduce(into: [] as [String]?) { parts, property in
                guard let example = property.shape.example else { return parts = nil }
                parts?.append("\"\(property.name)\": \(example)")
            }.map { "{\($0.joined(separator: ", "))}" }
        }
    }
}

extension JSONShape: Codable {
    private static let (type, properties, required) = (TextKey("type"), TextKey("properties"), TextKey("required"))
    private static let (order, items, values) = (
        TextKey("propertyOrder"), TextKey("items"), TextKey("additionalProperties")
    )
    private static let cases = TextKey("enum")

    /// Encodes the shape as a JSON Schema, with the order of an object's properties as `propertyOrder`.
    package func encode(to encoder: any Encoder) throws {
        var schema = encoder.container(keyedBy: TextKey.self)
        switch self {
        case .any: break
        case .null, .boolean, .integer, .number, .string: try schema.encode(description, forKey: Self.type)
        case .oneOf(let texts):
            try schema.encode("string", forKey: Self.type)
            try schema.encode(texts, forKey: Self.cases)
        case .array(let element):
            try schema.encode("array", forKey: Self.type)
            try schema.encode(element, forKey: Self.items)
        case .dictionary(let value):
            try schema.encode("object", forKey: Self.type)
            try schema.encode(value, forKey: Self.values)
        case .object(let all, let isComplete):
            try schema.encode("object", forKey: Self.type)
            var container = schema.nestedContainer(keyedBy: TextKey.self, forKey: Self.properties)
            for property in all { try container.encode(property.shape, forKey: TextKey(property.name)) }
            try schema.encode(all.filter { !$0.isOptional }.map(\.name), forKey: Self.required)
            try schema.encode(all.map(\.name), forKey: Self.order)
            if !isComplete { try schema.encode(true, forKey: Self.values) }
        }
    }

    /// Decodes a JSON Schema of the keywords that ``encode(to:)`` writes; what others say is any JSON.
    ///
    /// - Throws: `DecodingError` for what is not an object, or has these keywords with other values.
    package init(from decoder: any Decoder) throws {
        let schema = try decoder.container(keyedBy: TextKey.self)
        switch try schema.decodeIfPresent(String.self, forKey: Self.type) {
        case "null": self = .null
        case "boolean": self = .boolean
        case "integer": self = .integer
        case "number": self = .number
        case "string":
            self = try schema.decodeIfPresent([String].self, forKey: Self.cases).map(JSONShape.oneOf) ?? .string
        case "array": self = .array(try schema.decodeIfPresent(JSONShape.self, forKey: Self.items) ?? .any)
        case "object":
            guard schema.contains(Self.properties) else {
                self = .dictionary(try schema.decodeIfPresent(JSONShape.self, forKey: Self.values) ?? .any)
                return
            }
            let shapes = try schema.nestedContainer(keyedBy: TextKey.self, forKey: Self.properties)
            let required = Set(try schema.decodeIfPresent([String].self, forKey: Self.required) ?? [])
            let names = try schema.decodeIfPresent([String].self, forKey: Self.order)
            self = .object(
                try (names ?? shapes.allKeys.map(\.stringValue).sorted()).map { name in
                    Property(
                        name: name, shape: try shapes.decode(JSONShape.self, forKey: TextKey(name)),
                        isOptional: !required.contains(name))
                }, isComplete: try !(schema.decodeIfPresent(Bool.self, forKey: Self.values) ?? false))
        default: self = .any
        }
    }
}

/// The shapes of what a method takes and gives.
package struct MethodShape: Codable, Sendable, Hashable {
    package var input: JSONShape
    /// The shape of the output or, of a stream, of an element.
    package var output: JSONShape
}
