import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

/// `backplane graph`, from a composition to its texts.
struct GraphTests {
    private let graph = ComponentGraph(.books)

    @Test func `the tree has every manager with its collaborators, lanes and faults`() throws {
        let lines = graph.trees.flatMap { $0.lines(.boxes, colour: false) }
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "graph-tree")
    }

    @Test func `managers that use one another have a tree each`() {
        func node(_ name: String) -> ComponentGraph.Node { ComponentGraph.Node(id: name, kind: .manager, name: name) }
        func edge(_ from: String, _ to: String) -> ComponentGraph.Edge {
            ComponentGraph.Edge(from: from, to: to, label: "peer", style: .native)
        }
        let graph = ComponentGraph(nodes: [node("A"), node("B")], edges: [edge("A", "B"), edge("B", "A")])
        #expect(
            graph.trees.flatMap { $0.lines(.ascii, colour: false) }
                == ["A: ", "`- peer → B, native", "B: ", "`- peer → A, native"])
    }

    @Test func `Mermaid has every component once, every wire, and the faulty with what is wrong`() throws {
        try expectSnapshot(graph.drawing.mermaid + "\n", "graph-mermaid")
    }

    @Test func `so does Graphviz`() throws {
        try expectSnapshot(graph.drawing.dot + "\n", "graph-dot")
    }

    @Test func `a shared component is one node, and knows whose it is`() throws {
        let stores = graph.nodes.filter { $0.component?.className == "BookStore" }
        #expect(stores.map { $0.component?.usedBy } == [["LibraryManager", "ReadingRoomManager"]])
        #expect(graph.edges.count { $0.to == stores[0].id } == 2)
    }

    @Test(arguments: [
        (
            Composition.routes,
            ["LibraryRoutes", "LibraryRoutes 1.0.0", "org.example.routes", "GET /books/:id", "GET /changes"]
        ),
        (
            Composition.screens,
            [
                "BookScreens", "BookScreens 1.0.0", "org.example.screens", "books.list",
                #"books.page {"book": string, "page": integer?}"#,
            ]
        ),
    ])
    func `a manager with routes or screens lists them, each on a line`(composition: Composition, lines: [String]) {
        let graph = ComponentGraph(composition)
        #expect(graph.nodes.map(\.lines) == [lines])
        #expect(graph.drawing.dot.contains("\\n\(lines[3])"))
        #expect(graph.trees.first?.branches.map { $0.line.text(colour: false) } == Array(lines.dropFirst(3)))
    }

    @Test func `graphs of operations have a frame each, and edges after any outcome are dashed`() throws {
        let graphs = try JSONDecoder().decode(
            [OperationForm].self,
            from: Data(
                #"""
                [{"number": 7, "name": "batch", "component": "Desk", "plugin": "org.a", "states": {"running": 1, "waiting": 1},
                  "nodes": [{"node": 0, "name": "load", "state": "running"},
                            {"node": 1, "name": "tidy", "state": "waiting", "needs": [0, 9], "always": [0]}]}]
                """#.utf8))
        #expect(
            Drawing(graphs).mermaid == """
                flowchart TD
                  subgraph g7["Desk#58; batch<br/>7"]
                    g7n0["load<br/>running"]:::running
                    g7n1["tidy<br/>waiting"]:::waiting
                    g7n0 -.-> g7n1
                  end
                  classDef running fill:#dbeafe,stroke:#1d4ed8,color:#111
                  classDef waiting fill:#f3f4f6,stroke:#6b7280,color:#111
                """)
        let dot = Drawing(graphs).dot
        #expect(dot.contains("  subgraph cluster_7 {\n    label=\"Desk: batch\\n7\";\n"), "\(dot)")
        #expect(dot.contains("    g7n0 -> g7n1 [style=dashed];\n  }\n}"), "\(dot)")
    }

    @Test func `lanes are told apart, and open wires of the faulty from both`() {
        let styles = Dictionary(grouping: graph.edges, by: \.style).mapValues { $0.map(\.label).sorted() }
        #expect(
            styles == [
                .native: [
                    "books", "books", "communicationController", "communicationController", "dataAccessController",
                    "dataAccessController",
                ],
                .encoded: ["clock"], .open: ["clock", "clock"],
            ])
        #expect(graph.edges.filter { $0.style == .encoded }.compactMap(\.because).count == 1)
    }

    /// Names that would end a label, begin another, or become HTML.
    @Test(arguments: [
        "\"", "a\"b", "]", "|", "#quot;", "&lt;", "<b>", "\\", "\\n", "`x`", "1. one", "- one", "%%", "\u{202E}x",
        "a\u{0}b", "\r\n", "图书馆", "e\u{301}",
    ])
    func `names say themselves and nothing else`(name: String) throws {
        let node = ComponentGraph.Node(id: "n0", kind: .manager, name: name)
        let graph = ComponentGraph(nodes: [node], edges: [])
        let mermaid = graph.drawing.mermaid.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(mermaid.count == 3, "one line for the node")
        try expectMermaid(mermaid[1], /\s+n0\["([^"\[\]<>&`|\\:]+)"\]:::manager/, says: name)
        let dot = graph.drawing.dot.split(separator: "\n").filter { $0.hasPrefix("  n0") }
        #expect(dot.count == 1)
        try expectDOT(dot[0], says: name)
    }

    private func expectMermaid(_ line: Substring, _ form: Regex<(Substring, Substring)>, says name: String) throws {
        let label = try #require(line.wholeMatch(of: form.matchingSemantics(.unicodeScalar))?.output.1, "\(line)")
        let said = String(label).replacing(/#([0-9]+);/.matchingSemantics(.unicodeScalar)) { match in
            UInt32(match.output.1).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
        }
        #expect(said == name.printable)
    }

    private func expectDOT(_ line: Substring, says name: String) throws {
        let label = try #require(
            line.firstMatch(of: /label="((?:[^"\\]|\\.)*)"\];$/.matchingSemantics(.unicodeScalar))?.output.1, "\(line)")
        var said = "", isEscaped = false
        for scalar in label.unicodeScalars {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                said += (isEscaped && scalar == "n" ? "\\n" : String(scalar))
                isEscaped = false
            }
        }
        #expect(said.replacing(/&amp;/.matchingSemantics(.unicodeScalar), with: "&") == name.printable)
    }
}
