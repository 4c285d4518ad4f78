import Backplane
import BackplaneDocuments

/// The result of a call as JSON, with members in the order of the method's shape, or sorted if that is unknown.
///
/// Plugins' encoders write members in an order that varies between processes.
struct OrderedResult {
    private let bytes: [UInt8]
    private(set) var text: [UInt8] = []

    /// Orders a JSON text, and leaves other text unchanged.
    init(_ bytes: [UInt8], _ shape: JSONShape?) {
        self.bytes = bytes
        if let value = JSONMembers(of: bytes) { write(value, shape ?? .any) } else { text = bytes }
    }

    private mutating func write(_ value: JSONMembers, _ shape: JSONShape) {
        if case .optional(let shape) = shape { return write(value, shape) }
        switch value {
        case .scalar(let range): text += bytes[range]
        case .array(let elements):
            let inner = if case .array(let element) = shape { element } else { JSONShape.any }
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(element, inner)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            var places: [String: Int] = [:], shapes: [String: JSONShape] = [:], others = JSONShape.any
            switch shape {
            case .object(let properties):
                for (place, property) in properties.enumerated() {
                    (places[property.name], shapes[property.name]) = (place, property.shape)
                }
            case .dictionary(_, let value): others = value
            default: break
            }
            let ordered = members.sorted {
                (places[$0.key] ?? .max, $0.key) < (places[$1.key] ?? .max, $1.key)
            }
            text.append(UInt8(ascii: "{"))
            for (index, member) in ordered.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text += JSONValue.string(member.key).json + [UInt8(ascii: ":")]
                write(member.value, shapes[member.key] ?? others)
            }
            text.append(UInt8(ascii: "}"))
        }
    }
}
