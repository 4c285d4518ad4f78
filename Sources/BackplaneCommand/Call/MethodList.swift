import Backplane
import BackplaneBoundary

/// The methods of a manager, as reported by the host that runs it.
struct MethodList: Codable, Sendable {
    struct Method: Codable, Sendable {
        var name: String
        /// The word for the kind: `async`, `sync` or `stream`; `nil` for a kind unknown to the host.
        var kind: String?

        fileprivate func row(_ shapes: ContractShapes) -> MethodRow {
            MethodRow(method: name, kind: kind, input: shapes.input(of: name), output: shapes.output(of: name))
        }
    }
    var methods: [Method]
    /// The text of the contract's layouts; `nil` if the plugin provides none.
    var layout: String?

    /// Reads the methods of the provider's end of a manager's wires.
    init(_ side: LaneSide) {
        methods = side.contract.methods.map { Method(name: $0.name, kind: $0.kind.word) }
        layout = side.layout.read()
    }

    /// The methods with the shapes of their JSON.
    var rows: [MethodRow] {
        let shapes = ContractShapes(layout: layout)
        return methods.map { $0.row(shapes) }
    }

    func row(of method: String) -> MethodRow? {
        methods.first { $0.name == method }?.row(ContractShapes(layout: layout))
    }
}
