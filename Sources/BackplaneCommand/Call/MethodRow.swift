import Backplane
import BackplaneHost
import BackplaneTerminal

/// A method as `call` without a method lists it.
struct MethodRow: Codable, Sendable {
    var method: String
    /// The word for the kind: `async`, `sync` or `stream`; `nil` for one that this version does not know.
    var kind: String?
    /// The shape of the input as a JSON Schema; `nil` if the plugin does not tell.
    var input: JSONShape?
    /// The shape of the output or, of a stream, of an element.
    var output: JSONShape?

    init(_ method: MethodDescription, _ shape: MethodShape?) {
        (self.method, kind, input, output) = (method.name, method.kind.word, shape?.input, shape?.output)
    }

    static let header = ["METHOD", "INPUT", "OUTPUT"]

    var cells: [Span] {
        let output = (output ?? .any).description
        return [method, (input ?? .any).description, kind == "stream" ? "stream of \(output)" : output].map {
            Span($0.printable)
        }
    }

    /// The words that call the method; `nil` if too little is known of its input.
    var example: [String]? {
        switch input {
        case .null?: [method]
        case let input?: input.example.map { [method, $0] }
        case nil: nil
        }
    }
}
