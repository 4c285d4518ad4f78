import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import FoundationEssentials
import Glibc

/// The methods of a manager, as reported by its host.
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

    /// The arguments that call the method; `nil` if its input is not sufficiently known.
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

/// The input of `backplane call`, and the explanation of an input that the method does not accept.
struct CallInput: Sendable {
    /// The JSON, `-` for standard input, or `nil` for no input, which the method receives as `null`.
    var text: String?

    /// Returns the input as JSON.
    ///
    /// - Throws: `call.invalid-input`, with the position, if the input is not JSON; also if standard input cannot be
    ///   read.
    func bytes() throws(BackplaneError) -> [UInt8] {
        guard let text else { return Array("null".utf8) }
        let bytes = text == "-" ? try Input.standard(limit: 64 << 20) : Array(text.utf8)
        guard !JSONReader.isJSON(bytes) else { return bytes }
        var reason = "expected JSON"
        do throws(DocumentError) {
            _ = try DocumentValue(json: Data(bytes))
        } catch {
            reason = error.description
        }
        throw BackplaneError(.callInvalidInput, "the input is not JSON: \(reason)\(advice)")
    }

    /// The advice for an unquoted word that was probably intended as a string.
    private var advice: String {
        guard let text, text != "-", !text.isEmpty,
            !text.contains(where: { "\"{}[]'\\".contains($0) || $0.isNewline })
        else { return "" }
        return "; for a string, write '\"\(text)\"'"
    }

    /// Returns the error of a refused input with an example of a valid one, and other errors unchanged.
    ///
    /// - Parameters:
    ///   - error: The error of the call.
    ///   - row: The method; if it accepts no input, the input has not caused the error.
    ///   - method: The names of the manager and the method.
    ///   - bytes: The input as read; `nil` if it is `text`.
    func explaining(
        _ error: BackplaneError, of row: MethodRow?, _ method: String, given bytes: [UInt8]? = nil
    ) -> BackplaneError {
        guard error.code == .callInvalidInput, let row, row.input != .null else { return error }
        let example = row.input.example.flatMap { $0.utf8.count > 200 ? nil : ", for example \($0.shellWord)" }
        let message =
            if text == nil {
                "`\(method)` requires an input, but none was specified: \(error.message); write it as JSON after the "
                    + "method\(example ?? "")"
            } else if let example {
                "the input of `\(method)`: \(error.message); write \(row.input.word)\(example)"
            } else {
                error.message
            }
        var explained = error
        (explained.message, explained.location) = (message, error.location ?? misfit(row.input, bytes))
        return explained
    }
}

extension CallInput {
    /// Returns the path of the first non-integer number where the shape has an integer, which decoders do not report.
    private func misfit(_ shape: JSONShape, _ bytes: [UInt8]?) -> String? {
        guard let bytes = bytes ?? text.map({ Array($0.utf8) }) else { return nil }
        var reader = JSONReader(bytes, depth: JSONReader.recursionDepth)
        guard let token = try? reader.next() else { return nil }
        return (try? shape.misfit(token, &reader, at: DocumentPath()))?.description
    }
}

extension JSONShape {
    /// Returns the path of the first number that is not whole, or is too large, where an integer is expected.
    fileprivate func misfit(_ token: JSONReader.Token, _ reader: inout JSONReader, at path: DocumentPath)
        throws(DocumentError) -> DocumentPath?
    {
        switch (self, token) {
        case (.optional(let shape), _): return try shape.misfit(token, &reader, at: path)
        case (.integer, .number): return String(decoding: reader.text, as: UTF8.self).isNumberButNoInteger ? path : nil
        case (.array(let shape), .array):
            var index = 0
            while let token = try reader.next(), token != .end {
                if let found = try shape.misfit(token, &reader, at: path / index) { return found }
                index += 1
            }
        case (.dictionary, .object), (.object, .object):
            while let token = try reader.next(), let key = reader.key {
                if let found = try member(key).misfit(token, &reader, at: path / key) { return found }
            }
        default: _ = try reader.rest(of: token)
        }
        return nil
    }

    private func member(_ key: String) -> JSONShape {
        switch self {
        case .dictionary(_, let value): value
        case .object(let properties): properties.first { $0.name == key }?.shape ?? .any
        default: .any
        }
    }

    /// The name in JSON of a value of the shape, with its article.
    fileprivate var word: String {
        switch self {
        case .any: "JSON"
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string, .form, .choice: "a string"
        case .optional(let value): value.word
        case .array: "an array"
        case .dictionary, .object: "an object"
        }
    }
}

extension String {
    /// A Boolean value that indicates whether the JSON is a number that no integer type can represent.
    fileprivate var isNumberButNoInteger: Bool {
        guard let number = Double(self) else { return false }
        return Int64(self) == nil && UInt64(self) == nil && Int64(exactly: number) == nil
            && UInt64(exactly: number) == nil
    }
}

/// The standard input of a command.
enum Input {
    /// Reads standard input to its end.
    ///
    /// - Parameter limit: The maximum size, in bytes.
    /// - Throws: `BackplaneError` if the input is longer than `limit` or cannot be read.
    static func standard(limit: Int) throws(BackplaneError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw BackplaneError(
                    .callInvalidInput, "standard input cannot be read: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw BackplaneError(.callInvalidInput, "standard input has more than \(limit) bytes")
            }
        }
    }
}
