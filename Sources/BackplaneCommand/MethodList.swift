import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools

/// The methods of a manager, as reported by the host that runs it.
struct MethodList: Codable, Sendable {
    struct Method: Codable, Sendable {
        var name: String
        /// The word for the kind: `async`, `sync` or `stream`; `nil` for a kind unknown to the host.
        var kind: String?

        fileprivate func row(_ shapes: ContractShapes) -> MethodRow {
            MethodRow(method: name, kind: kind, input: shapes.input(of: name), output: shapes.output(of: name))
        }
    }
    var methods: [Method]
    /// The text of the contract's layouts; `nil` if the plugin provides none.
    var layout: String?

    /// Reads the methods of the provider's end of a manager's wires.
    init(_ side: LaneSide) {
        methods = side.contract.methods.map { Method(name: $0.name, kind: $0.kind.word) }
        layout = side.layout.read()
    }

    /// The methods with the shapes of their JSON.
    var rows: [MethodRow] {
        let shapes = ContractShapes(layout: layout)
        return methods.map { $0.row(shapes) }
    }

    func row(of method: String) -> MethodRow? {
        methods.first { $0.name == method }?.row(ContractShapes(layout: layout))
    }
}

/// A method in the list that `call` prints without a method.
struct MethodRow: Encodable, Sendable {
    var method: String
    /// The word for the kind: `async`, `sync` or `stream`; `nil` for a kind unknown to the host.
    var kind: String?
    var input: JSONShape
    /// The shape of the output or, for a stream, of an element.
    var output: JSONShape

    static let header = ["METHOD", "INPUT", "OUTPUT"]

    var cells: [Span] {
        [method, input.description, kind == "stream" ? "stream of \(output)" : output.description].map {
            Span($0.printable)
        }
    }

    /// The words that call the method; `nil` if its input is not sufficiently known.
    var example: [String]? { input == .null ? [method] : input.example.map { [method, $0] } }
}

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
