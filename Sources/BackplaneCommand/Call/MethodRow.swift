import BackplaneTerminal

/// A method as `call` without a method lists it.
struct MethodRow: Encodable, Sendable {
    var method: String
    /// The word for the kind: `async`, `sync` or `stream`; `nil` for one that the host does not know.
    var kind: String?
    var input: JSONShape
    /// The shape of the output or, of a stream, of an element.
    var output: JSONShape

    static let header = ["METHOD", "INPUT", "OUTPUT"]

    var cells: [Span] {
        [method, input.description, kind == "stream" ? "stream of \(output)" : output.description].map {
            Span($0.printable)
        }
    }

    /// The words that call the method; `nil` if too little is known of its input.
    var example: [String]? { input == .null ? [method] : input.example.map { [method, $0] } }
}
