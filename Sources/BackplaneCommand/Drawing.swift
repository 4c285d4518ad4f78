import BackplaneTools

/// Nodes and the edges between them, which can be drawn in Mermaid or Graphviz.
struct Drawing: Sendable {
    /// The looks that nodes can have, in the order in which Mermaid's classes are defined.
    var looks: [Look]
    var parts: [Part]

    /// Nodes and edges, in a frame if there is a number.
    struct Part: Sendable {
        var number: UInt64?
        var title: [String] = []
        var nodes: [Node]
        var edges: [Edge]
    }

    struct Node: Sendable {
        /// An identifier of letters and digits.
        var id: String
        var lines: [String]
        /// The look; `nil` for a plain box.
        var look: Look?
    }

    struct Edge: Sendable {
        var from: String
        var to: String
        var lines: [String]
        var line: Line
    }

    enum Line: Sendable {
        case solid, dashed
        /// The line to or from a manager that cannot be created.
        case open
    }

    /// A shape, and colours that are legible on both light and dark backgrounds.
    struct Look: Sendable, Hashable {
        var name, fill, stroke: String
        /// The brackets of the shape in Mermaid.
        var opening, closing: String
        /// The shape in Graphviz.
        var shape: String
        var isDashed: Bool

        init(
            _ name: String, _ fill: String, _ stroke: String, _ opening: String = "[", _ closing: String = "]",
            shape: String = "box", isDashed: Bool = false
        ) {
            (self.name, self.fill, self.stroke) = (name, fill, stroke)
            (self.opening, self.closing, self.shape, self.isDashed) = (opening, closing, shape, isDashed)
        }
    }
}

/// Mermaid flowcharts, <https://mermaid.js.org/syntax/flowchart.html>.
extension Drawing {
    var mermaid: String {
        var lines = ["flowchart TD"]
        for part in parts {
            let inner = part.nodes.map(Self.mermaid) + part.edges.map(Self.mermaid)
            guard let number = part.number else {
                lines += inner.map { "  " + $0 }
                continue
            }
            lines.append("  subgraph g\(number)[\"\(Self.mermaidLabel(part.title))\"]")
            lines += inner.map { "    " + $0 } + ["  end"]
        }
        let used = Set(parts.flatMap(\.nodes).compactMap(\.look))
        lines += looks.filter(used.contains).map { look in
            "  classDef \(look.name) fill:\(look.fill),stroke:\(look.stroke),color:#111"
                + (look.isDashed ? ",stroke-dasharray:5 3" : "")
        }
        return lines.joined(separator: "\n")
    }

    private static func mermaid(_ node: Node) -> String {
        let label = mermaidLabel(node.lines), look = node.look
        return "\(node.id)\(look?.opening ?? "[")\"\(label.isEmpty ? " " : label)\"\(look?.closing ?? "]")"
            + (look.map { ":::\($0.name)" } ?? "")
    }

    private static func mermaid(_ edge: Edge) -> String {
        let arrow =
            switch edge.line {
            case .solid: "-->"
            case .dashed: "-.->"
            case .open: "--x"
            }
        let label = mermaidLabel(edge.lines)
        // The grammar does not permit empty labels.
        return "\(edge.from) \(arrow)\(label.isEmpty ? "" : "|\"\(label)\"|") \(edge.to)"
    }

    private static func mermaidLabel(_ lines: [String]) -> String {
        lines.map { mermaidText($0.printable) }.joined(separator: "<br/>")
    }

    /// Replaces characters that have a meaning in Mermaid, Markdown or HTML with numeric entities; keeps letters and
    /// digits.
    private static func mermaidText(_ text: String) -> String {
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

/// The DOT language of Graphviz, <https://graphviz.org/doc/info/lang.html>.
extension Drawing {
    var dot: String {
        var lines = ["node [fontname=\"Helvetica\", style=filled];", "edge [fontname=\"Helvetica\", fontsize=10];"]
        for part in parts {
            let inner = (part.nodes.map(Self.dot) + part.edges.map(Self.dot)).map { $0 + ";" }
            guard let number = part.number else {
                lines += inner
                continue
            }
            lines += ["subgraph cluster_\(number) {", "  label=\"\(Self.dotLabel(part.title))\";"]
            lines += inner.map { "  " + $0 } + ["}"]
        }
        return "digraph backplane {\n" + lines.map { "  \($0)\n" }.joined() + "}"
    }

    private static func dot(_ node: Node) -> String {
        let look =
            node.look.map { look in
                "shape=\(look.shape), "
                    + (look.isDashed ? "style=\"filled,dashed\", color=\"\(look.stroke)\", " : "")
                    + "fillcolor=\"\(look.fill)\", "
            } ?? "shape=box, "
        return "\(node.id) [\(look)label=\"\(dotLabel(node.lines))\"]"
    }

    private static func dot(_ edge: Edge) -> String {
        let look =
            switch edge.line {
            case .solid: "style=solid"
            case .dashed: "style=dashed"
            case .open: "style=dotted, color=\"#b91c1c\", arrowhead=tee"
            }
        let label = edge.lines.isEmpty ? "" : ", label=\"\(dotLabel(edge.lines))\""
        return "\(edge.from) -> \(edge.to) [\(look)\(label)]"
    }

    private static func dotLabel(_ lines: [String]) -> String {
        lines.map { dotText($0.printable) }.joined(separator: "\\n")
    }

    /// Escapes a label for Graphviz, which interprets backslashes, and treats ampersands as the start of HTML entities.
    private static func dotText(_ text: String) -> String {
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
