import BackplaneTerminal

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
