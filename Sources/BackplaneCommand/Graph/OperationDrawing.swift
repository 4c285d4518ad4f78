import Backplane
import BackplaneControl
import BackplaneTerminal

/// The drawing of the graphs of operations that run in a host: their nodes with states, and the edges between them.
struct OperationDrawing: Encodable, Sendable {
    /// The graphs, each with its nodes.
    var graphs: [OperationForm]

    init(_ graphs: [OperationForm]) { self.graphs = graphs }

    func encode(to encoder: any Encoder) throws { try graphs.encode(to: encoder) }

    /// The nodes of a graph, each with its identifier, its label and its state.
    func nodes(of graph: OperationForm) -> [(id: String, lines: [String], state: String)] {
        (graph.nodes ?? []).map { node in
            (id: Self.id(node.node, in: graph), lines: [node.name, node.state], state: node.state)
        }
    }

    /// The edges of a graph; `isPlain` indicates whether the dependent requires success.
    func edges(of graph: OperationForm) -> [(from: String, to: String, isPlain: Bool)] {
        let known = Set((graph.nodes ?? []).map(\.node))
        var edges: [(from: String, to: String, isPlain: Bool)] = []
        for node in graph.nodes ?? [] {
            for need in node.needs ?? [] where known.contains(need) {
                let isPlain = !(node.always ?? []).contains(need)
                edges.append((from: Self.id(need, in: graph), to: Self.id(node.node, in: graph), isPlain: isPlain))
            }
        }
        return edges
    }

    /// Returns the label of a graph.
    func title(of graph: OperationForm) -> [String] { ["\(graph.component): \(graph.name)", "\(graph.number)"] }

    private static func id(_ node: Int, in graph: OperationForm) -> String { "g\(graph.number)n\(node)" }

    /// The colours of a state, legible on both light and dark backgrounds; `nil` for an unknown one.
    static func colours(of state: String) -> (fill: String, stroke: String)? {
        switch state {
        case "waiting": ("#f3f4f6", "#6b7280")
        case "running": ("#dbeafe", "#1d4ed8")
        case "pausing", "paused": ("#fef3c7", "#b45309")
        case "succeeded": ("#dcfce7", "#15803d")
        case "failed": ("#fee2e2", "#b91c1c")
        case "cancelled": ("#e5e7eb", "#b91c1c")
        default: nil
        }
    }
}

extension MermaidText {
    static func text(_ drawing: OperationDrawing) -> String {
        let states = Set(drawing.graphs.flatMap { ($0.nodes ?? []).map(\.state) }).sorted()
        var lines = ["flowchart TD"]
        for graph in drawing.graphs {
            lines.append("  subgraph g\(graph.number)[\"\(label(drawing.title(of: graph)))\"]")
            lines += drawing.nodes(of: graph).map { node in
                let style = OperationDrawing.colours(of: node.state) == nil ? "" : ":::\(node.state)"
                return "    \(node.id)[\"\(label(node.lines))\"]\(style)"
            }
            lines += drawing.edges(of: graph).map { "    \($0.from) \($0.isPlain ? "-->" : "-.->") \($0.to)" }
            lines.append("  end")
        }
        for state in states {
            guard let (fill, stroke) = OperationDrawing.colours(of: state) else { continue }
            lines.append("  classDef \(state) fill:\(fill),stroke:\(stroke),color:#111")
        }
        return lines.joined(separator: "\n")
    }
}

extension DOTText {
    static func text(_ drawing: OperationDrawing) -> String {
        var lines = ["digraph backplane {", "  node [fontname=\"Helvetica\", style=filled, shape=box];"]
        for graph in drawing.graphs {
            lines.append("  subgraph cluster_\(graph.number) {")
            lines.append("    label=\"\(label(drawing.title(of: graph)))\";")
            lines += drawing.nodes(of: graph).map { node in
                let look = OperationDrawing.colours(of: node.state).map { "fillcolor=\"\($0.fill)\", " } ?? ""
                return "    \(node.id) [\(look)label=\"\(label(node.lines))\"];"
            }
            lines += drawing.edges(of: graph).map {
                "    \($0.from) -> \($0.to) [style=\($0.isPlain ? "solid" : "dashed")];"
            }
            lines.append("  }")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }
}
