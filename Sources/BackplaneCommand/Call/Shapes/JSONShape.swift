import Backplane
import BackplaneDocuments

/// The shape of the JSON that a type is encoded as, as far as its layout determines it.
indirect enum JSONShape: Sendable, Equatable {
    /// A property of an object.
    struct Property: Sendable, Equatable {
        var name: String
        var shape: JSONShape
    }
    /// Any JSON, because the shape is unknown.
    case any
    case null, boolean, integer, number, string
    /// A string in a named format, with an example.
    case form(String, example: String)
    /// A string with one of these values, each of which may be spelled differently in JSON.
    case choice([String])
    /// A value that may be `null` or, as a property, missing.
    case optional(JSONShape)
    case array(JSONShape)
    /// An object with arbitrary keys, which are strings or integers written as strings.
    case dictionary(keys: JSONShape, JSONShape)
    /// An object with these properties, in the order of their declaration.
    case object([Property])
}

extension JSONShape: CustomStringConvertible {
    /// The shape in one line: `{"title": string, "year": integer?, "tags": [string]}`.
    var description: String {
        switch self {
        case .any: "any JSON"
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .form(let name, _): "string (\(name))"
        case .choice(let names): "string (\(names.joined(separator: " | ")))"
        case .optional(let value): "\(value)?"
        case .array(let element): "[\(element)]"
        case .dictionary(let keys, let value): "{\(keys): \(value)}"
        case .object(let properties):
            "{" + properties.map { "\(quoted($0.name)): \($0.shape)" }.joined(separator: ", ") + "}"
        }
    }

    /// An example of JSON of the shape, for editing and passing to the method; `nil` if the shape is not sufficiently
    /// known.
    var example: String? {
        switch self {
        case .any: nil
        case .null: "null"
        case .boolean: "true"
        case .integer: "1"
        case .number: "1.5"
        case .string: #""text""#
        case .form(_, let example): quoted(example)
        case .choice(let names): names.first.map(quoted)
        case .optional(let value): value.example ?? "null"
        case .array(let element): element.example.map { "[\($0)]" } ?? "[]"
        case .dictionary(let keys, let value):
            value.example.map { "{\(quoted(keys == .integer ? "1" : "name")): \($0)}" } ?? "{}"
        case .object(let properties): example(of: properties)
        }
    }

    private func example(of properties: [Property]) -> String? {
        var parts: [String] = []
        for property in properties {
            if case .optional = property.shape { continue }
            guard let value = property.shape.example else { return nil }
            parts.append("\(quoted(property.name)): \(value)")
        }
        return "{\(parts.joined(separator: ", "))}"
    }

    private func quoted(_ text: String) -> String { String(decoding: JSONValue.string(text).json, as: UTF8.self) }
}

/// The encoding as a JSON Schema, with the order of an object's properties as `propertyOrder`.
extension JSONShape: Encodable {
    private enum Keyword: String, CodingKey {
        case type, properties, required, propertyOrder, items, additionalProperties, anyOf, examples
    }

    func encode(to encoder: any Encoder) throws {
        var schema = encoder.container(keyedBy: Keyword.self)
        switch self {
        case .any: break
        case .null, .boolean, .integer, .number, .string: try schema.encode(description, forKey: .type)
        case .form(_, let example):
            try schema.encode("string", forKey: .type)
            try schema.encode([example], forKey: .examples)
        case .choice: try schema.encode("string", forKey: .type)
        case .optional(let value): try schema.encode([value, .null], forKey: .anyOf)
        case .array(let element):
            try schema.encode("array", forKey: .type)
            try schema.encode(element, forKey: .items)
        case .dictionary(_, let value):
            try schema.encode("object", forKey: .type)
            try schema.encode(value, forKey: .additionalProperties)
        case .object(let properties):
            try schema.encode("object", forKey: .type)
            var shapes = schema.nestedContainer(keyedBy: TextKey.self, forKey: .properties)
            for property in properties { try shapes.encode(property.shape, forKey: TextKey(property.name)) }
            let required = properties.filter { if case .optional = $0.shape { false } else { true } }
            try schema.encode(required.map(\.name), forKey: .required)
            try schema.encode(properties.map(\.name), forKey: .propertyOrder)
        }
    }
}
