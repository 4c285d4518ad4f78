import Backplane
import BackplaneControl
import BackplaneTerminal
import Foundation

/// The command `backplane operations`: lists, follows and controls the graphs of operations of a running host.
struct OperationsCommand: Sendable {
    var host: HostChoice
    var json = false

    func list() -> Int32 {
        host.ask(OperationsRequest()) { graphs, _ in
            guard !json else {
                Output.json(graphs)
                return 0
            }
            Output.table(
                ["number", "graph", "component", "plugin", "nodes"],
                graphs.map { ["\($0.number)", $0.name.printable, $0.component, $0.plugin, Self.words($0.states)] })
            return 0
        }
    }

    func show(_ number: UInt64) -> Int32 {
        host.ask(OperationRequest(number: number)) { graph, _ in
            guard !json else {
                Output.json(graph)
                return 0
            }
            Output.line("\(graph.name.printable) of \(graph.component): \(Self.words(graph.states))")
            let rows = (graph.nodes ?? []).enumerated().map { number, node in
                ["\(number)", node.first?.printable ?? "", node.last ?? ""]
            }
            Output.table(["node", "name", "state"], rows)
            return 0
        }
    }

    /// Prints the changes of a graph's nodes until it has ended.
    func watch(_ number: UInt64) -> Int32 {
        host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
            var shown: [[String]] = []
            while true {
                let graph: OperationForm
                do throws(BackplaneError) {
                    graph = try conversation.answer(to: OperationRequest(number: number))
                } catch {
                    guard error.code.rawValue == "operation.unknown", !shown.isEmpty else { throw error }
                    if !json { Output.remark("backplane: the graph has ended") }
                    return 0
                }
                let nodes = graph.nodes ?? []
                for (index, node) in nodes.enumerated() where index >= shown.count || shown[index] != node {
                    let (name, state) = (node.first ?? "", node.last ?? "")
                    Output.line(json ? Self.line(index, name, state) : "\(name.printable): \(state)")
                }
                shown = nodes
                Thread.sleep(forTimeInterval: 0.25)
            }
        }
    }

    func change(_ number: UInt64, _ change: String, node: Int?) -> Int32 {
        host.ask(ChangeOperationRequest(number: number, change: change, node: node)) { _, _ in 0 }
    }

    /// A change of a node as an object in one line.
    private static func line(_ node: Int, _ name: String, _ state: String) -> String {
        struct Change: Encodable {
            var node: Int
            var name, state: String
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always encode.
        return (try? encoder.encode(Change(node: node, name: name, state: state)))
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func words(_ states: [String: Int]) -> String {
        states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
