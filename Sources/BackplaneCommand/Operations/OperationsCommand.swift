import Backplane
import BackplaneControl
import BackplaneTerminal

/// The command `backplane operations`: lists, follows and controls the graphs of operations of a running host.
struct OperationsCommand: Sendable {
    var host: HostChoice
    var json = false

    func list() -> Int32 {
        host.ask(OperationsRequest()) { graphs, _ in
            if json {
                Output.json(graphs)
            } else {
                Output.table(
                    ["number", "graph", "component", "plugin", "nodes"],
                    graphs.map {
                        ["\($0.number)", Self.title($0), $0.component.printable, $0.plugin, Self.words($0.states)]
                    })
            }
            return 0
        }
    }

    func show(_ number: UInt64) -> Int32 {
        host.ask(OperationRequest(number: number)) { graph, _ in
            if json {
                Output.json(graph)
            } else {
                Output.line("\(Self.title(graph)) of \(graph.component.printable): \(Self.words(graph.states))")
                Output.table(
                    ["node", "name", "state"],
                    (graph.nodes ?? []).map { ["\($0.node)", $0.name.printable, $0.state.printable] })
            }
            return 0
        }
    }

    /// Prints the changes of a graph's nodes until it has ended.
    func watch(_ number: UInt64) -> Int32 {
        host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
            var failure: BackplaneError?
            _ = try conversation.answer(to: WatchOperationRequest(number: number)) { element in
                do throws(BackplaneError) {
                    let node = try JSON.decode(
                        OperationNodeForm.self, Array(element.utf8), failing: .controlProtocol)
                    Output.line(json ? element : "\(node.node) \(node.name.printable): \(node.state.printable)")
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return 0
        }
    }

    func change(_ number: UInt64, _ change: String, node: Int?) -> Int32 {
        host.ask(ChangeOperationRequest(number: number, change: change, node: node)) { _, _ in 0 }
    }

    private static func title(_ graph: OperationForm) -> String {
        graph.name.printable + (graph.queue.map { " (queue \($0.printable))" } ?? "") + (graph.named ? ", named" : "")
    }

    private static func words(_ states: [String: Int]) -> String {
        states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
