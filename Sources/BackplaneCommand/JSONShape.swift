import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneScreens

/// The shape of a type's JSON encoding, as far as the type's layout determines it.
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

    private func quoted(_ text: String) -> String { String(decoding: text.json, as: UTF8.self) }
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

/// The shapes of the JSON of a contract's methods, read from the layouts that its plugin provides for the native lane.
///
/// The types' code does not run, so the shapes describe the encoding that the compiler synthesises. A type with custom
/// coding or keys may expect different JSON. Parts that a layout does not describe are any JSON.
struct ContractShapes: Sendable {
    private let inputs, outputs: [String: TypeLayout]
    private let declarations: [Int: TypeLayout.Declaration]

    /// Parses an untrusted text of layouts; without one, no shapes are known.
    init(layout text: String?) {
        let layout = text.flatMap(ContractLayout.init(text:))
        (inputs, outputs, declarations) = (layout?.inputs ?? [:], layout?.outputs ?? [:], layout?.declarations ?? [:])
    }

    func input(of method: String) -> JSONShape { shape(of: inputs[method]) }

    /// Returns the shape of a method's output or, for a stream, of an element.
    func output(of method: String) -> JSONShape { shape(of: outputs[method]) }

    private func shape(of type: TypeLayout?) -> JSONShape {
        var reader = ShapeReader(declarations: declarations)
        return type.map { reader.shape(of: $0) } ?? .any
    }
}

extension ScreenAnnotation.Entry {
    /// The identifier and the shape of the input on one line: `catalogue.book {"book": string, "page": integer?}`.
    var line: String {
        let layout = input.flatMap(ContractLayout.init(text:))
        var reader = ShapeReader(declarations: layout?.declarations ?? [:])
        return identifier + (layout?.state.map { " \(reader.shape(of: $0))" } ?? "")
    }
}

/// A reader of one shape.
private struct ShapeReader {
    let declarations: [Int: TypeLayout.Declaration]
    /// The numbers of the enclosing declared types; a type that is nested inside itself is any JSON.
    private var around: [Int] = []
    /// The number of values and members that may still be read, because a short text can refer to one type many times.
    private var left = 1_000

    init(declarations: [Int: TypeLayout.Declaration]) { self.declarations = declarations }

    mutating func shape(of type: TypeLayout) -> JSONShape {
        left -= 1
        guard left >= 0 else { return .any }
        switch type {
        case .standard(let name, let arguments): return shape(ofStandard: name, arguments)
        case .tuple: return .any
        case .declared(let number): return declarations[number].map { shape(of: $0, number) } ?? .any
        }
    }

    private mutating func shape(ofStandard name: String, _ arguments: [TypeLayout]) -> JSONShape {
        switch (name, arguments.first) {
        case ("Int", _), ("Int8", _), ("Int16", _), ("Int32", _), ("Int64", _), ("Int128", _): .integer
        case ("UInt", _), ("UInt8", _), ("UInt16", _), ("UInt32", _), ("UInt64", _), ("UInt128", _): .integer
        case ("Float", _), ("Double", _), ("Decimal", _), ("Date", _): .number
        case ("Bool", _): .boolean
        case ("String", _), ("Data", _), ("URL", _): .string
        case ("UUID", _): .form("UUID", example: "1B4E28BA-2FA1-41D2-883F-0016D3CCA427")
        case ("Optional", let value?): optional(shape(of: value))
        case ("Array", let element?), ("ContiguousArray", let element?), ("Set", let element?):
            .array(shape(of: element))
        // With other keys than strings, a dictionary is encoded as an array of alternating keys and values.
        case ("Dictionary", .standard("String", _)?) where arguments.count == 2:
            .dictionary(keys: .string, shape(of: arguments[1]))
        case ("Dictionary", .standard("Int", _)?) where arguments.count == 2:
            .dictionary(keys: .integer, shape(of: arguments[1]))
        default: .any
        }
    }

    private func optional(_ value: JSONShape) -> JSONShape {
        if case .optional = value { value } else { .optional(value) }
    }

    private mutating func shape(of declaration: TypeLayout.Declaration, _ number: Int) -> JSONShape {
        guard !around.contains(number), around.count < 16, declaration.members.count <= left
        else { return .any }
        left -= declaration.members.count
        if let known = ownShape(of: declaration) { return known }
        guard !declaration.isEnumeration else { return shape(ofCases: declaration) }
        around.append(number)
        defer { around.removeLast() }
        // A type that wraps a raw value is encoded as the raw value.
        if declaration.members.count == 1, let member = declaration.members.first, member.name == "rawValue" {
            return member.type.map { shape(of: $0) } ?? .any
        }
        // The storage of a wrapped or lazy property has a different name from the property.
        guard !declaration.members.contains(where: { $0.name.hasPrefix("_") || $0.name.hasPrefix("$") }) else {
            return .any
        }
        return .object(
            declaration.members.map { member in
                JSONShape.Property(name: member.name, shape: member.type.map { shape(of: $0) } ?? .any)
            })
    }

    /// Returns the shape of an enum, which is encoded as its raw value if it has one.
    private mutating func shape(ofCases declaration: TypeLayout.Declaration) -> JSONShape {
        guard let raw = declaration.rawType.map({ shape(of: $0) }) else { return .any }
        return raw == .string ? .choice(declaration.members.map(\.name)) : raw
    }

    /// The modules of Backplane that plugins link.
    private static let ownModules = [
        "Backplane", "BackplaneDocuments", "BackplaneNetwork", "BackplaneOperations",
        "BackplaneStorage",
    ]

    /// Returns the shape of one of Backplane's types, most of which have custom coding; `nil` for other types.
    private mutating func ownShape(of declaration: TypeLayout.Declaration) -> JSONShape? {
        guard let module = declaration.path.first, Self.ownModules.contains(module) else { return nil }
        return switch declaration.path {
        case ["Backplane", "Nothing"]: .null
        case ["Backplane", "Version"]: .form("version", example: "1.0.0")
        case ["Backplane", "StoredFile"], ["Backplane", "Kept"]: nil
        case ["Backplane", "Sourced"]:
            .object([
                JSONShape.Property(
                    name: "value",
                    shape: declaration.members.first { $0.name == "value" }?.type.map { shape(of: $0) } ?? .any),
                JSONShape.Property(name: "source", shape: .string),
                JSONShape.Property(name: "age", shape: .optional(.number)),
            ])
        default: .any
        }
    }
}
