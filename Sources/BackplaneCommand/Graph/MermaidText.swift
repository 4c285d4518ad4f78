import BackplaneTerminal

/// A graph in the language of Mermaid's flowcharts, <https://mermaid.js.org/syntax/flowchart.html>.
enum MermaidText {
    static func text(_ graph: ComponentGraph) -> String {
        let kinds = ComponentGraph.Node.Kind.allCases.filter { kind in graph.nodes.contains { $0.kind == kind } }
        let lines = graph.nodes.map(node) + graph.edges.map(edge) + kinds.map { "classDef \($0.rawValue) \(style($0))" }
        return (["flowchart TD"] + lines.map { "  " + $0 }).joined(separator: "\n")
    }

    private static func node(_ node: ComponentGraph.Node) -> String {
        let (open, close) =
            switch node.kind {
            case .manager: ("[", "]")
            case .dataAccessController: ("[(", ")]")
            case .communicationController: ("{{", "}}")
            case .networkService: ("([", "])")
            case .fault: ("[/", "/]")
            }
        let label = label(node.lines)
        return "\(node.id)\(open)\"\(label.isEmpty ? " " : label)\"\(close):::\(node.kind.rawValue)"
    }

    private static func edge(_ edge: ComponentGraph.Edge) -> String {
        let arrow =
            switch edge.style {
            case .native: "-->"
            case .encoded, .served: "-.->"
            case .open: "--x"
            }
        let label = label(edge.lines)
        // The grammar has no empty label.
        return "\(edge.from) \(arrow)\(label.isEmpty ? "" : "|\"\(label)\"|") \(edge.to)"
    }

    /// Colours that can be read on white and on black.
    private static func style(_ kind: ComponentGraph.Node.Kind) -> String {
        switch kind {
        case .manager: "fill:#dbeafe,stroke:#1d4ed8,color:#111"
        case .dataAccessController: "fill:#dcfce7,stroke:#15803d,color:#111"
        case .communicationController: "fill:#fef3c7,stroke:#b45309,color:#111"
        case .networkService: "fill:#ede9fe,stroke:#6d28d9,color:#111"
        case .fault: "fill:#fee2e2,stroke:#b91c1c,color:#111,stroke-dasharray:5 3"
        }
    }

    private static func label(_ lines: [String]) -> String {
        lines.map { escaped($0.printable) }.joined(separator: "<br/>")
    }

    /// Letters and digits of all languages stay; what may mean something to Mermaid, Markdown or HTML becomes a character's number.
    private static func escaped(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.map { index in
            let scalar = scalars[index]
            // `1. ` and `- ` at the start of a line would begin a list.
            let beginsList = [".", "-"].contains(scalar) && scalars.indices.contains(index + 1) && scalars[index + 1] == " "
            return isPlain(scalar) && !beginsList ? String(scalar) : "#\(scalar.value);"
        }.joined()
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        // Not a colon: of a line with `style`, then one, then a number, Mermaid cuts the last semicolon off.
        if " .,-_/@".unicodeScalars.contains(scalar) { return true }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar.properties.generalCategory == .nonspacingMark
    }
}
