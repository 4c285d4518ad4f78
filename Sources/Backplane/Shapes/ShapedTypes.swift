import FoundationEssentials

/// The types that Foundation's decoders decode in their own way, and their shapes.
enum Plain {
    static func known<Value: Decodable>(_: Value.Type) -> (value: Value, shape: JSONShape)? {
        let known: (any Decodable, JSONShape)? =
            switch Value.self {
            case is Bool.Type: (false, .boolean)
            case is String.Type: ("", .string)
            case is Double.Type: (0.0, .number)
            case is Float.Type: (Float(0), .number)
            case let type as any (FixedWidthInteger & Decodable).Type: (type.init(0), .integer)
            case is Decimal.Type: (Decimal(), .number)
            case is Date.Type: (Date(timeIntervalSinceReferenceDate: 0), .number)
            case is Data.Type: (Data(), .string)
            case is UUID.Type: (UUID(), .string)
            case is URL.Type: URL(string: "https://example.org").map { ($0, .string) }
            case is Nothing.Type: (Nothing(), .null)
            default: nil
            }
        return known.flatMap { value, shape in (value as? Value).map { ($0, shape) } }
    }
}

/// A type whose values contain those of another one, and of which there is one without.
protocol Wrapper {
    static var empty: Self { get }
    static func shape(within types: [ObjectIdentifier]) -> JSONShape
}

extension Array: Wrapper where Element: Decodable {
    static var empty: [Element] { [] }
    static func shape(within types: [ObjectIdentifier]) -> JSONShape {
        .array(ShapeRecorder.shape(of: Element.self, within: types))
    }
}

extension Set: Wrapper where Element: Decodable {
    static var empty: Set<Element> { [] }
    static func shape(within types: [ObjectIdentifier]) -> JSONShape {
        .array(ShapeRecorder.shape(of: Element.self, within: types))
    }
}

extension Dictionary: Wrapper where Key: Decodable, Value: Decodable {
    static var empty: [Key: Value] { [:] }
    static func shape(within types: [ObjectIdentifier]) -> JSONShape {
        // With other keys a dictionary is an array of keys and values in turn.
        Key.self == String.self || Key.self == Int.self
            ? .dictionary(ShapeRecorder.shape(of: Value.self, within: types)) : .array(.any)
    }
}

extension Optional: Wrapper where Wrapped: Decodable {
    static var empty: Wrapped? { nil }
    static func shape(within types: [ObjectIdentifier]) -> JSONShape {
        ShapeRecorder.shape(of: Wrapped.self, within: types)
    }
}
