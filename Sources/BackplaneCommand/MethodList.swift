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
    let text: [UInt8]

    /// Orders a JSON text, and leaves other text unchanged.
    init(_ bytes: [UInt8], _ shape: JSONShape?) {
        var reader = JSONReader(bytes, depth: JSONReader.recursionDepth)
        text = (try? Self.document(&reader, shape ?? .any)) ?? bytes
    }

    private static func document(_ reader: inout JSONReader, _ shape: JSONShape) throws(DocumentError) -> [UInt8]? {
        guard let token = try reader.next() else { return nil }
        let text = try text(of: token, &reader, shape)
        return try reader.next() == nil ? text : nil
    }

    private static func text(of token: JSONReader.Token, _ reader: inout JSONReader, _ shape: JSONShape)
        throws(DocumentError) -> [UInt8]
    {
        if case .optional(let shape) = shape { return try text(of: token, &reader, shape) }
        switch token {
        case .array:
            let inner = if case .array(let element) = shape { element } else { JSONShape.any }
            var elements: [[UInt8]] = []
            while let token = try reader.next(), token != .end { elements.append(try text(of: token, &reader, inner)) }
            return [UInt8(ascii: "[")] + elements.joined(separator: ",".utf8) + [UInt8(ascii: "]")]
        case .object:
            var places: [String: Int] = [:], shapes: [String: JSONShape] = [:], others = JSONShape.any
            switch shape {
            case .object(let properties):
                for (place, property) in properties.enumerated() {
                    (places[property.name], shapes[property.name]) = (place, property.shape)
                }
            case .dictionary(_, let value): others = value
            default: break
            }
            var members: [(key: String, text: [UInt8])] = []
            while let token = try reader.next(), let key = reader.key {
                let value = try text(of: token, &reader, shapes[key] ?? others)
                members.append((key, key.json + [UInt8(ascii: ":")] + value))
            }
            members.sort { (places[$0.key] ?? .max, $0.key) < (places[$1.key] ?? .max, $1.key) }
            return [UInt8(ascii: "{")] + members.map(\.text).joined(separator: ",".utf8) + [UInt8(ascii: "}")]
        default: return Array(reader.text)
        }
    }
}
