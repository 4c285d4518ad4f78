import BackplaneTerminal

/// A renderer for Mermaid flowcharts, <https://mermaid.js.org/syntax/flowchart.html>.
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
        // The grammar does not permit empty labels.
        return "\(edge.from) \(arrow)\(label.isEmpty ? "" : "|\"\(label)\"|") \(edge.to)"
    }

    /// Returns colours that are legible on both light and dark backgrounds.
    private static func style(_ kind: ComponentGraph.Node.Kind) -> String {
        switch kind {
        case .manager: "fill:#dbeafe,stroke:#1d4ed8,color:#111"
        case .dataAccessController: "fill:#dcfce7,stroke:#15803d,color:#111"
        case .communicationController: "fill:#fef3c7,stroke:#b45309,color:#111"
        case .networkService: "fill:#ede9fe,stroke:#6d28d9,color:#111"
        case .fault: "fill:#fee2e2,stroke:#b91c1c,color:#111,stroke-dasharray:5 3"
        }
    }

    static func label(_ lines: [String]) -> String {
        lines.map { escaped($0.printable) }.joined(separator: "<br/>")
    }

    /// Replaces characters that have a meaning in Mermaid, Markdown or HTML with numeric entities; keeps letters and
    /// digits.
    private static func escaped(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.map { index in
            let scalar = scalars[index]
            // `1. ` and `- ` at the start of a line would begin a list.
            let beginsList =
                [".", "-"].contains(scalar) && scalars.indices.contains(index + 1) && scalars[index + 1] == " "
            return isPlain(scalar) && !beginsList ? String(scalar) : "#\(scalar.value);"
        }.joined()
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        // No colon: in a line with `style` followed by a colon and a number, Mermaid drops the last semicolon.
        if " .,-_/@".unicodeScalars.contains(scalar) { return true }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || scalar.properties.generalCategory == .nonspacingMark
    }
}
