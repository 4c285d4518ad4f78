import Backplane
import BackplaneControl
import BackplaneTerminal

/// The command `backplane graph --operations`: draws the graphs of operations that run in a host.
struct OperationGraphCommand: Sendable {
    var host: HostChoice
    var format = GraphCommand.Format.mermaid

    func run() -> Int32 {
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
