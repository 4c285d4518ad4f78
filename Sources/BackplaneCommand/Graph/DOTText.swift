import BackplaneTerminal

/// A renderer for the DOT language of Graphviz, <https://graphviz.org/doc/info/lang.html>.
enum DOTText {
    static func text(_ graph: ComponentGraph) -> String {
        let defaults = ["node [fontname=\"Helvetica\", style=filled]", "edge [fontname=\"Helvetica\", fontsize=10]"]
        let lines = defaults + graph.nodes.map(node) + graph.edges.map(edge)
        return "digraph backplane {\n" + lines.map { "  \($0);\n" }.joined() + "}"
    }

    private static func node(_ node: ComponentGraph.Node) -> String {
        let look =
            switch node.kind {
            case .manager: "shape=box, fillcolor=\"#dbeafe\""
            case .dataAccessController: "shape=cylinder, fillcolor=\"#dcfce7\""
            case .communicationController: "shape=hexagon, fillcolor=\"#fef3c7\""
            case .networkService: "shape=oval, fillcolor=\"#ede9fe\""
            case .fault: "shape=box, style=\"filled,dashed\", color=\"#b91c1c\", fillcolor=\"#fee2e2\""
            }
        return "\(node.id) [\(look), label=\"\(label(node.lines))\"]"
    }

    private static func edge(_ edge: ComponentGraph.Edge) -> String {
        let look =
            switch edge.style {
            case .native: "style=solid"
            case .encoded, .served: "style=dashed"
            case .open: "style=dotted, color=\"#b91c1c\", arrowhead=tee"
            }
        return "\(edge.from) -> \(edge.to) [\(look), label=\"\(label(edge.lines))\"]"
    }

    static func label(_ lines: [String]) -> String {
        lines.map { escaped($0.printable) }.joined(separator: "\\n")
    }

    /// Escapes a label for Graphviz, which interprets backslashes, and treats ampersands as the start of HTML entities.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "&": "&amp;"
            default: String(scalar)
            }
        }.joined()
    }
}
