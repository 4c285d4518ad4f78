package import BackplaneDocuments
import FoundationEssentials

/// A validator for the part of JSON Schema (draft 2020-12) that our schemas use; any other keyword is an error.
package struct JSONSchema {
    package struct UnknownKeyword: Error { var keyword: String }
    struct Unresolved: Error { var reference: String }

    private let root: DocumentValue

    package init(_ root: DocumentValue) { self.root = root }

    /// Returns the places at which a value violates the schema, each with the violated keyword.
    package func violations(in value: DocumentValue) throws -> [String] {
        try violations(in: value, at: "", root)
    }

    /// Returns the schema at a pointer such as `#/$defs/root`.
    package func schema(_ reference: String) throws -> [String: DocumentValue] {
        var schema = root
        for step in reference.dropFirst("#/".count).split(separator: "/") {
            guard case .dictionary(let members) = schema, let next = members[String(step)] else {
                throw Unresolved(reference: reference)
            }
            schema = next
        }
        guard case .dictionary(let members) = schema else { throw Unresolved(reference: reference) }
        return members
    }

    private func violations(in value: DocumentValue, at path: String, _ schema: DocumentValue) throws -> [String] {
        if case .bool(let accepts) = schema { return accepts ? [] : ["\(path): false"] }
        guard case .dictionary(let keywords) = schema else { throw UnknownKeyword(keyword: "\(schema)") }
        var found: [String] = []
        for (keyword, argument) in keywords.sorted(by: { $0.key < $1.key }) {
            found += try violations(in: value, at: path, keyword, argument, keywords)
        }
        return found
    }

    private func violations(
        in value: DocumentValue, at path: String, _ keyword: String, _ argument: DocumentValue,
        _ keywords: [String: DocumentValue]
    ) throws -> [String] {
        func expect(_ condition: Bool) -> [String] { condition ? [] : ["\(path): \(keyword)"] }
        switch (keyword, argument, value) {
        case ("$schema", _, _), ("$defs", _, _), ("title", _, _), ("description", _, _), ("examples", _, _),
            ("then", _, _), ("else", _, _):
            return []
        case ("$ref", .string(let reference), _):
            return try violations(in: value, at: path, .dictionary(schema(reference)))
        case ("type", .string(let type), _): return expect(value.is(type))
        case ("type", .array(let types), _):
            return expect(types.contains { if case .string(let type) = $0 { value.is(type) } else { false } })
        case ("const", _, _): return expect(value == argument)
        case ("enum", .array(let values), _): return expect(values.contains(value))
        case ("if", _, _):
            let branch = try violations(in: value, at: path, argument).isEmpty ? "then" : "else"
            return try keywords[branch].map { try violations(in: value, at: path, $0) } ?? []
        case ("required", .array(let keys), .dictionary(let members)):
            return keys.compactMap { key in
                guard case .string(let key) = key, members[key] == nil else { return nil }
                return "\(path)/\(key): required"
            }
        case ("dependentRequired", .dictionary(let needed), .dictionary(let members)):
            return try needed.sorted { $0.key < $1.key }.filter { members[$0.key] != nil }.flatMap {
                try violations(in: value, at: path, "required", $0.value, [:])
            }
        case ("dependentSchemas", .dictionary(let schemas), .dictionary(let members)):
            return try schemas.sorted { $0.key < $1.key }.filter { members[$0.key] != nil }.flatMap {
                try violations(in: value, at: path, $0.value)
            }
        case ("anyOf", .array(let schemas), _):
            return expect(try schemas.contains { try violations(in: value, at: path, $0).isEmpty })
        case ("maxProperties", .integer(let most), .dictionary(let members)): return expect(members.count <= most)
        case ("propertyNames", _, .dictionary(let members)):
            return try members.keys.sorted().flatMap { key in
                try violations(in: .string(key), at: "\(path)/\(key)", argument)
            }
        case ("properties", .dictionary(let schemas), .dictionary(let members)):
            return try members.sorted { $0.key < $1.key }.flatMap { key, value in
                try schemas[key].map { try violations(in: value, at: "\(path)/\(key)", $0) } ?? []
            }
        case ("additionalProperties", _, .dictionary(let members)):
            guard case .dictionary(let known) = keywords["properties"] ?? [:] else { return [] }
            return try members.sorted { $0.key < $1.key }.filter { known[$0.key] == nil }.flatMap {
                try violations(in: $0.value, at: "\(path)/\($0.key)", argument)
            }
        case ("items", _, .array(let values)):
            return try values.enumerated().flatMap { try violations(in: $1, at: "\(path)/\($0)", argument) }
        case ("minItems", .integer(let least), .array(let values)): return expect(values.count >= least)
        case ("maxItems", .integer(let most), .array(let values)): return expect(values.count <= most)
        case ("uniqueItems", .bool(let isUnique), .array(let values)):
            return expect(!isUnique || Set(values).count == values.count)
        case ("minLength", .integer(let least), .string(let text)): return expect(text.unicodeScalars.count >= least)
        case ("pattern", .string(let pattern), .string(let text)):
            return expect(try Regex(pattern).dotMatchesNewlines().firstMatch(in: text) != nil)
        case ("minimum", _, _), ("maximum", _, _):
            guard let bound = argument.double else { throw UnknownKeyword(keyword: keyword) }
            return expect(value.double.map { keyword == "minimum" ? $0 >= bound : $0 <= bound } ?? true)
        // These keywords do not apply to other kinds of values.
        case ("required", .array, _), ("dependentRequired", .dictionary, _), ("dependentSchemas", .dictionary, _),
            ("maxProperties", .integer, _), ("propertyNames", _, _), ("properties", .dictionary, _),
            ("additionalProperties", _, _), ("items", _, _), ("minItems", .integer, _), ("maxItems", .integer, _),
            ("uniqueItems", .bool, _), ("minLength", .integer, _), ("pattern", .string, _):
            return []
        default: throw UnknownKeyword(keyword: keyword)
        }
    }
}

extension DocumentValue {
    /// The value of a number; `nil` for anything else.
    fileprivate var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// Returns whether the value has a JSON type; data and dates have the types of their JSON encodings.
    fileprivate func `is`(_ type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number, .date: type == "number"
        case .string, .data: type == "string"
        case .array: type == "array"
        case .dictionary: type == "object"
        }
    }
}
