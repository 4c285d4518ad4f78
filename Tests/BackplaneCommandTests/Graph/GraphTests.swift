import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

struct GraphTests {
    private let graph = ComponentGraph(.books)

    @Test func `Mermaid has every component once, every wire, and the faulty with what is wrong`() throws {
        try expectSnapshot(MermaidText.text(graph) + "\n", "graph-mermaid")
    }

    @Test func `so does Graphviz`() throws {
        try expectSnapshot(DOTText.text(graph) + "\n", "graph-dot")
    }

    @Test func `a shared component is one node, and knows whose it is`() throws {
        let stores = graph.nodes.filter { $0.className == "BookStore" }
        #expect(stores.map(\.managers) == [["LibraryManager", "ReadingRoomManager"]])
        #expect(graph.edges.count { $0.to == stores[0].id } == 2)
    }

    @Test func `a component with streams names them`() {
        let streams = graph.nodes.filter { $0.streams != nil }
        #expect(streams.map(\.className) == ["BooksService", "BooksService"])
        #expect(streams.allSatisfy { $0.streams == ["events", "text"] && $0.lines.last == "streams: events, text" })
    }

    @Test func `a manager with routes lists them, each on a line`() throws {
        let graph = ComponentGraph(.routes), node = try #require(graph.nodes.first)
        #expect(node.routes == ["GET /books/:id", "GET /changes"])
        #expect(
            node.lines == [
                "LibraryRoutes", "LibraryRoutes 1.0.0", "org.example.routes", "GET /books/:id", "GET /changes",
            ])
        #expect(MermaidText.text(graph).contains("<br/>GET /books/#58;id<br/>GET /changes\"]"))
        #expect(DOTText.text(graph).contains("\\nGET /books/:id\\nGET /changes\"]"))
        let json = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(graph)) as? [String: Any])
        let nodes = try #require(json["nodes"] as? [[String: Any]])
        #expect(nodes.map { $0["routes"] as? [String] } == [node.routes])
    }

    @Test func `a manager with screens lists them, each on a line`() throws {
        let node = try #require(ComponentGraph(.screens).nodes.first)
        #expect(node.screens == ["books.list", "books.page"])
        #expect(
            node.lines == ["BookScreens", "BookScreens 1.0.0", "org.example.screens", "books.list", "books.page"])
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
        let node = ComponentGraph.Node(id: "n0", kind: .manager, name: name, managers: [name])
        let graph = ComponentGraph(nodes: [node], edges: [])
        let mermaid = MermaidText.text(graph).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(mermaid.count == 3, "one line for the node")
        try expectMermaid(mermaid[1], /\s+n0\["([^"\[\]<>&`|\\:]+)"\]:::manager/, says: name)
        let dot = DOTText.text(graph).split(separator: "\n").filter { $0.hasPrefix("  n0") }
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
