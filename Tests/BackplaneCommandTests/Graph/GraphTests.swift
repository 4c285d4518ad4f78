import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneCommand

@Suite struct GraphTests {
    private let graph = ComponentGraph(.books)

    @Test func `Mermaid has every component once, every wire, and the faulty with what is wrong`() throws {
        try expectSnapshot(MermaidText.text(graph) + "\n", "graph-mermaid")
    }

    @Test func `so has Graphviz`() throws {
        try expectSnapshot(DOTText.text(graph) + "\n", "graph-dot")
    }

    @Test func `a shared component is one node, and knows whose it is`() throws {
        let stores = graph.nodes.filter { $0.className == "BookStore" }
        #expect(stores.map(\.managers) == [["LibraryManager", "ReadingRoomManager"]])
        #expect(graph.edges.count { $0.to == stores[0].id } == 2)
    }

    @Test func `every edge ends at nodes, and no node has another's name`() {
        let ids = graph.nodes.map(\.id)
        #expect(Set(ids).count == ids.count)
        for edge in graph.edges { #expect(ids.contains(edge.from) && ids.contains(edge.to)) }
    }

    @Test func `lanes are told apart, and open wires of the faulty from both`() {
        let styles = Dictionary(grouping: graph.edges, by: \.style).mapValues { $0.map(\.label).sorted() }
        #expect(styles == [
            .native: ["books", "books", "communicationController", "communicationController", "dataAccessController", "dataAccessController"],
            .served: ["clock"], .open: ["clock", "clock"],
        ])
        #expect(graph.edges.filter { $0.style == .served }.compactMap(\.because).count == 1)
    }

    /// Names that would end a label, begin another, or become HTML.
    @Test(arguments: ["\"", "a\"b", "]", "|", "#quot;", "&lt;", "<b>", "\\", "\\n", "`x`", "1. one", "- one", "%%", "\u{202E}x", "a\u{0}b", "\r\n", "图书馆", "e\u{301}"])
    func `names say themselves and nothing else`(name: String) throws {
        let node = ComponentGraph.Node(id: "n0", kind: .manager, name: name, managers: [name])
        let graph = ComponentGraph(nodes: [node], edges: [])
        let mermaid = MermaidText.text(graph).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(mermaid.count == 3, "one line for the node")
        let label = try #require(mermaid[1].wholeMatch(of: /\s+n0\["([^"\[\]<>&`|\\]*)"\]:::manager/)?.output.1)
        #expect(decoded(mermaid: String(label)) == name.printable)
        let dot = DOTText.text(graph).split(separator: "\n").filter { $0.hasPrefix("  n0") }
        #expect(dot.count == 1)
        let text = try #require(dot[0].firstMatch(of: /label="((?:[^"\\]|\\.)*)"\];$/)?.output.1)
        #expect(text.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\").replacing("&amp;", with: "&") == name.printable)
    }

    private func decoded(mermaid text: String) -> String {
        text.replacing(/#([0-9]+);/) { match in UInt32(match.output.1).flatMap(Unicode.Scalar.init).map { String($0) } ?? "" }
    }
}
