import BackplaneHost
import BackplaneTerminal

/// The command `backplane graph`: draws the components and wires of a manifest.
struct GraphCommand: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case mermaid, dot, json

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }
    var settings: HostSettings
    var format = Format.mermaid

    func run() async -> Int32 {
        let composition = await settings.compose()
        if composition.isEmpty { return settings.fail(composition) }
        let graph = ComponentGraph(composition)
        switch format {
        case .mermaid: Output.line(MermaidText.text(graph))
        case .dot: Output.line(DOTText.text(graph))
        case .json: Output.json(graph)
        }
        settings.remark(onErrorsOf: composition)
        return 0
    }
}
