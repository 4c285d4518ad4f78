import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneScreens
import BackplaneTools

extension BackplaneTool {
    struct Graph: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draw the components of a manifest, the wires between them and their lanes.",
            discussion: """
                Managers that cannot be created are included, each with its first problem. Native wires are drawn \
                solid, encoded wires dashed. Nothing is started. The exit code is 1 if the manifest cannot be \
                read.

                With --operations, the graphs of operations that components of a running host run are drawn instead, \
                each node with its state; edges that let a node run after any outcome are dashed. The manifest then \
                chooses the host.

                EXAMPLES
                  backplane graph manifests/bookshelf-both.json
                  backplane graph --format dot | dot -Tsvg > graph.svg
                  backplane graph --format json
                  backplane graph --operations
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Option(help: ArgumentHelp("The output format.", valueName: "format"))
        var format = Format.mermaid
        @Flag(help: "Draw the graphs of operations of a running host.") var operations = false
        @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
        var socket: String?

        func validate() throws {
            guard operations || socket == nil else { throw ValidationError("--socket requires --operations") }
        }

        enum Format: String, CaseIterable, Sendable, ExpressibleByArgument {
            case mermaid, dot, json
        }

        func run() async throws {
            let path = try manifest.path
            if operations { throw ExitCode(drawOperations(of: try HostChoice.given(socket: socket, manifest: path))) }
            let settings = try host.settings(path), composition = await settings.compose()
            guard !composition.isEmpty else { throw ExitCode(settings.fail(composition)) }
            let graph = ComponentGraph(composition)
            switch format {
            case .mermaid: Output.line(MermaidText.text(graph))
            case .dot: Output.line(DOTText.text(graph))
            case .json: Output.json(graph)
            }
            settings.remark(onErrorsOf: composition)
        }

        private func drawOperations(of host: HostChoice) -> Int32 {
            host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
                var graphs: [OperationForm] = []
                for graph in try conversation.answer(to: OperationsRequest()) {
                    do throws(BackplaneError) {
                        graphs.append(try conversation.answer(to: OperationRequest(number: graph.number)))
                    } catch {
                        // It has ended in the meantime.
                        guard error.code.rawValue == "operation.unknown" else { throw error }
                    }
                }
                let drawing = OperationDrawing(graphs)
                switch format {
                case .mermaid: Output.line(MermaidText.text(drawing))
                case .dot: Output.line(DOTText.text(drawing))
                case .json: Output.json(drawing)
                }
                return 0
            }
        }

    }
}

/// The graph of components and the wires between them.
struct ComponentGraph: Encodable, Sendable {
    var nodes: [Node]
    var edges: [Edge]

    struct Node: Encodable, Sendable {
        enum Kind: String, Encodable, Sendable, CaseIterable {
            case manager, dataAccessController, communicationController, networkService
            /// A manager that cannot be created.
            case fault
        }
        /// An identifier of letters and digits, the same for every run with the same manifest.
        var id: String
        var kind: Kind
        /// The name in the manifest, for managers only.
        var name: String?
        var className: String?
        var version: String?
        var plugin: String?
        /// The streams of the contract that it provides; `nil` if it has none.
        var streams: [String]?
        /// The routes that it lists; `nil` if there are none.
        var routes: [String]?
        /// The screens that it lists; `nil` if there are none.
        var screens: [String]?
        /// The managers whose definitions contain the component.
        var managers: [String]
        /// The first error of a manager that cannot be created.
        var fault: String?
    }

    struct Edge: Encodable, Sendable {
        enum Style: String, Encodable, Sendable {
            case native, encoded
            /// A wire of a manager that cannot be created.
            case open
        }
        var from: String
        var to: String
        var label: String
        var contract: String?
        var version: String?
        var style: Style
        /// The reason why the wire is not native.
        var because: String?
    }
}

extension ComponentGraph.Node {
    /// The lines of the node's label, beginning with the name.
    var lines: [String] {
        let component = [className, version].compactMap(\.self).joined(separator: " ")
        let streams = streams.map { "streams: \($0.joined(separator: ", "))" }
        let details = [plugin, streams].compactMap(\.self) + (routes ?? []) + (screens ?? [])
        return [name ?? component] + (name == nil || component.isEmpty ? [] : [component]) + details
            + (fault.map { [$0.shortened(to: 100)] } ?? [])
    }
}

extension ComponentGraph.Edge {
    /// The lines of the edge's label.
    var lines: [String] {
        let contract = [contract, version].compactMap(\.self).joined(separator: " ")
        let lane =
            switch style {
            case .native: "native"
            case .encoded: "encoded"
            case .open: ""
            }
        return [label, contract, lane].filter { !$0.isEmpty }
    }
}

extension ComponentGraph {
    /// Creates a graph of the plan's components in creation order, then the managers that cannot be created, by name.
    init(_ composition: Composition) {
        let faults = composition.plan.faults.sorted { $0.key < $1.key }
        let names = Dictionary(uniqueKeysWithValues: faults.enumerated().map { ($0.element.key, "f\($0.offset)") })
        let problems = Dictionary(
            composition.problems.lazy.filter { $0.severity == .error }.compactMap { problem in
                problem.manager.map { ($0, problem.error) }
            },
            uniquingKeysWith: { first, _ in first })
        nodes = composition.plan.nodes.map(Node.init)
        nodes += faults.map { name, error in
            Node(
                id: names[name] ?? name, kind: .fault, name: name,
                className: composition.document.manifest.managers[name].map { $0.className ?? name },
                managers: [name], fault: (problems[name] ?? error).message)
        }
        edges = composition.wires.map(Edge.init)
        edges += faults.flatMap { name, _ in
            composition.uses(of: name).compactMap { use in
                guard let to = composition.plan.managers[use.manager].map({ "n\($0)" }) ?? names[use.manager] else {
                    return nil
                }
                return Edge(from: names[name] ?? name, to: to, label: use.label, style: .open)
            }
        }
    }
}

extension ComponentGraph.Node {
    fileprivate init(_ node: Plan.Node) {
        let component = node.entry.component
        self.init(
            id: "n\(node.id)", kind: Kind(node.role), name: node.role == .manager ? node.managers.first : nil,
            className: component.className,
            version: component.version.description, plugin: node.entry.plugin, streams: component.contract?.streams,
            routes: component.listedRoutes, screens: component.listedScreens?.map(\.identifier), managers: node.managers
        )
    }
}

extension ComponentGraph.Node.Kind {
    fileprivate init(_ role: Role) {
        self =
            switch role {
            case .manager: .manager
            case .dataAccessController: .dataAccessController
            case .communicationController: .communicationController
            case .networkService: .networkService
            }
    }
}

extension ComponentGraph.Edge {
    fileprivate init(_ wire: Composition.PlannedWire) {
        self.init(
            from: "n\(wire.user)", to: "n\(wire.provider)", label: wire.label, contract: wire.contract,
            version: wire.version.description, style: .native)
        if case .encoded(let reason) = wire.lane { (style, because) = (.encoded, reason) }
    }
}

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
            case .encoded: "-.->"
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
            case .encoded: "style=dashed"
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
