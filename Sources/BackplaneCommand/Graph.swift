import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Graph: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "graph",
            abstract: "Draw the components of a manifest, the wires between them and their lanes.",
            discussion: """
                Prints a tree of each manager with its collaborators. Managers that cannot be created are included, \
                each with its first problem. In drawings for Mermaid and Graphviz, native wires are solid and encoded \
                wires dashed. Nothing is started. The exit code is 1 if the manifest cannot be read.

                With --operations, the graphs of operations in a running host are drawn instead, each node with its \
                state; edges that let a node run after any outcome are dashed. The manifest then chooses the host.

                EXAMPLES
                  backplane graph manifests/bookshelf-both.json
                  backplane graph --dot | dot -Tsvg > graph.svg
                  backplane graph --mermaid
                  backplane graph --operations
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(exclusivity: .exclusive) var format = Format.tree
        @Flag(help: "Draw the graphs of operations of a running host.") var operations = false
        @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
        var socket: String?

        func validate() throws {
            guard operations || socket == nil else { throw ValidationError("--socket requires --operations") }
        }

        enum Format: String, EnumerableFlag {
            case tree, mermaid, dot, json

            static func help(for value: Format) -> ArgumentHelp? {
                switch value {
                case .tree: "Print trees (the default)."
                case .mermaid: "Print a flowchart for Mermaid."
                case .dot: "Print a drawing for Graphviz."
                case .json: "Print the nodes and edges as JSON."
                }
            }
        }

        func run() async throws {
            let path = try manifest.path
            if operations { throw ExitCode(drawOperations(of: try HostChoice.given(socket: socket, manifest: path))) }
            let settings = try host.settings(path), composition = await settings.compose()
            guard !composition.isEmpty else { throw ExitCode(settings.fail(composition)) }
            let graph = ComponentGraph(composition)
            print(graph, graph.drawing, graph.trees)
            settings.remark(onErrorsOf: composition)
        }

        private func drawOperations(of host: HostChoice) -> Int32 {
            host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
                var graphs: [OperationForm] = []
                for graph in try conversation.answer(to: OperationsRequest()) {
                    do throws(BackplaneError) {
                        graphs.append(try conversation.answer(to: OperationRequest(number: graph.number)))
                    } catch {
                        // The graph has ended in the meantime.
                        guard error.code.rawValue == "operation.unknown" else { throw error }
                    }
                }
                print(graphs, Drawing(graphs), graphs.map(\.tree))
                return 0
            }
        }

        private func print(_ value: some Encodable, _ drawing: Drawing, _ trees: [Tree]) {
            switch format {
            case .tree: for tree in trees { Output.tree(tree) }
            case .mermaid: Output.line(drawing.mermaid)
            case .dot: Output.line(drawing.dot)
            case .json: Output.json(value)
            }
        }
    }
}

// MARK: Components

/// The graph of components and the wires between them.
struct ComponentGraph: Encodable, Sendable {
    var nodes: [Node]
    var edges: [Edge]

    struct Node: Encodable, Sendable {
        enum Kind: String, Encodable, Sendable, CaseIterable {
            case manager, dataAccessController, communicationController, networkService
            /// A manager that cannot be created.
            case fault

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
        /// An identifier of letters and digits, the same for every run with the same manifest.
        var id: String
        var kind: Kind
        /// The name in the manifest, for managers only.
        var name: String?
        /// The component; `nil` for a manager that cannot be created.
        var component: ListedComponent?
        /// The class and the first error of a manager that cannot be created.
        var className, fault: String?
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
        nodes = composition.plan.nodes.map { node in
            Node(
                id: "n\(node.id)", kind: Node.Kind(node.role), name: node.role == .manager ? node.managers.first : nil,
                component: ListedComponent(node.entry, usedBy: node.managers))
        }
        nodes += faults.map { name, error in
            Node(
                id: names[name] ?? name, kind: .fault, name: name,
                className: composition.document.manifest.managers[name].map { $0.className ?? name },
                fault: (problems[name] ?? error).message)
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

extension ComponentGraph.Edge {
    fileprivate init(_ wire: Composition.PlannedWire) {
        let status = wire.status
        self.init(
            from: "n\(wire.user)", to: "n\(wire.provider)", label: status.label, contract: status.contract,
            version: status.version.description, style: .native)
        if case .encoded(let reason) = status.lane { (style, because) = (.encoded, reason) }
    }

    /// The lines of the edge's label.
    var lines: [String] {
        let contract = [contract, version].compactMap(\.self).joined(separator: " ")
        return [label, contract, style == .open ? "" : style.rawValue].filter { !$0.isEmpty }
    }
}

extension ComponentGraph.Node {
    /// The class and its version.
    private var classLine: String { component.map { "\($0.className) \($0.version)" } ?? className ?? "" }

    /// The lines of the node's label, beginning with the name.
    var lines: [String] {
        let details = [component?.plugin, component?.streamLine].compactMap(\.self) + (component?.lists ?? [])
        return [name ?? classLine] + (name == nil || classLine.isEmpty ? [] : [classLine]) + details
            + (fault.map { [$0.shortened(to: 100)] } ?? [])
    }

    fileprivate var tree: Tree {
        let heading: [Span] = name.map { [Span($0.printable, .heading), ": "] } ?? []
        if let fault { return Tree(heading + [Span("cannot be created: ", .bad), Span(fault.printable)]) }
        let plugin = component.map { " of plugin \($0.plugin)" } ?? ""
        let details = [component?.streamLine].compactMap(\.self) + (component?.lists ?? [])
        return Tree(heading + [Span("\(classLine)\(plugin)".printable)], details.map { Tree([Span($0.printable)]) })
    }
}

extension ComponentGraph {
    /// The trees of the managers by name, each with its collaborators and the managers that it uses.
    var trees: [Tree] {
        let managers = nodes.filter { $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let known = Dictionary(nodes.map { ($0.id, $0) }) { first, _ in first }
        let wires = Dictionary(grouping: edges, by: \.from)
        return managers.map { tree(of: $0, known, wires) }
    }

    private func tree(of node: Node, _ known: [String: Node], _ wires: [String: [Edge]]) -> Tree {
        var tree = node.tree
        for wire in wires[node.id] ?? [] {
            guard let provider = known[wire.to] else { continue }
            let lead = Span("\(wire.label) → ".printable), lane: [Span]
            switch wire.style {
            case .native: lane = [", ", Span("native", .good)]
            case .encoded: lane = [", ", Span("encoded", .doubtful), Span(": \(wire.because ?? "")".printable)]
            case .open: lane = []
            }
            if let name = provider.name {
                // Every manager has its own tree, and managers can use one another in a circle.
                let name = Span(name.printable, provider.kind == .fault ? .bad : .heading)
                tree.branches.append(Tree([lead, name] + lane))
            } else {
                let collaborator = self.tree(of: provider, known, wires)
                tree.branches.append(Tree([lead] + collaborator.line + lane, collaborator.branches))
            }
        }
        return tree
    }
}

extension ComponentGraph {
    /// The drawing, in which a shared component is one node.
    var drawing: Drawing {
        Drawing(
            looks: Node.Kind.allCases.map(\.look),
            parts: [
                Drawing.Part(
                    nodes: nodes.map { Drawing.Node(id: $0.id, lines: $0.lines, look: $0.kind.look) },
                    edges: edges.map { edge in
                        let line: Drawing.Line =
                            switch edge.style {
                            case .native: .solid
                            case .encoded: .dashed
                            case .open: .open
                            }
                        return Drawing.Edge(from: edge.from, to: edge.to, lines: edge.lines, line: line)
                    })
            ])
    }
}

extension ComponentGraph.Node.Kind {
    fileprivate var look: Drawing.Look {
        switch self {
        case .manager: Drawing.Look(rawValue, "#dbeafe", "#1d4ed8")
        case .dataAccessController: Drawing.Look(rawValue, "#dcfce7", "#15803d", "[(", ")]", shape: "cylinder")
        case .communicationController: Drawing.Look(rawValue, "#fef3c7", "#b45309", "{{", "}}", shape: "hexagon")
        case .networkService: Drawing.Look(rawValue, "#ede9fe", "#6d28d9", "([", "])", shape: "oval")
        case .fault: Drawing.Look(rawValue, "#fee2e2", "#b91c1c", "[/", "/]", isDashed: true)
        }
    }
}

// MARK: Operations

extension OperationForm {
    /// The graph with its nodes, their states and the nodes for which they wait.
    fileprivate var tree: Tree {
        let nodes = (nodes ?? []).map { node in
            let needs = (node.needs ?? []).map { "\($0)" }.joined(separator: ", ")
            return Tree([
                Span("\(node.node) \(node.name): ".printable), Span(node.state.printable),
                Span(needs.isEmpty ? "" : ", after \(needs)", .faint),
            ])
        }
        return Tree([Span("\(component): \(name)".printable, .heading), Span(", number \(number)")], nodes)
    }
}

extension Drawing {
    /// Creates the drawing of graphs of operations, each in a frame; `always` makes an edge dashed.
    init(_ graphs: [OperationForm]) {
        parts = graphs.map { graph in
            func id(_ node: Int) -> String { "g\(graph.number)n\(node)" }
            let nodes = graph.nodes ?? [], known = Set(nodes.map(\.node))
            return Part(
                number: graph.number, title: ["\(graph.component): \(graph.name)", "\(graph.number)"],
                nodes: nodes.map { node in
                    Node(
                        id: id(node.node), lines: [node.name, node.state],
                        look: Self.states.first { $0.name == node.state })
                },
                edges: nodes.flatMap { node in
                    (node.needs ?? []).filter(known.contains).map { need in
                        let line: Line = (node.always ?? []).contains(need) ? .dashed : .solid
                        return Edge(from: id(need), to: id(node.node), lines: [], line: line)
                    }
                })
        }
        looks = Self.states
    }

    /// The looks of the known states, by name.
    private static let states = [
        Look("cancelled", "#e5e7eb", "#b91c1c"), Look("failed", "#fee2e2", "#b91c1c"),
        Look("paused", "#fef3c7", "#b45309"), Look("pausing", "#fef3c7", "#b45309"),
        Look("running", "#dbeafe", "#1d4ed8"), Look("succeeded", "#dcfce7", "#15803d"),
        Look("waiting", "#f3f4f6", "#6b7280"),
    ]
}
