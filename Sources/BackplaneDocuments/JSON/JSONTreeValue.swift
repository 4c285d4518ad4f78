/// A type of value that ``JSONTree`` builds from a JSON text.
package protocol JSONTreeValue {
    static var null: Self { get }
    static func bool(_ value: Bool) -> Self
    static func integer(_ value: Int64) -> Self
    static func number(_ value: Double) -> Self
    static func string(_ value: String) -> Self
    static func array(_ values: [Self]) -> Self
    static func object(_ members: [String: Self]) -> Self
}

extension JSONTreeValue {
    /// Creates the canonical value of a number, in which it is compared and encoded.
    init(canonical number: Double) {
        self = Int64(exactly: number).map(Self.integer) ?? .number(number)
    }
}

extension JSONValue: JSONTreeValue {}

extension DocumentValue: JSONTreeValue {
    package static func object(_ members: [String: DocumentValue]) -> DocumentValue { .dictionary(members) }
}
