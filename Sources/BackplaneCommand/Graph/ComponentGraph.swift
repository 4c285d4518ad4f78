import BackplaneTerminal

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
        /// The managers whose definitions contain the component.
        var managers: [String]
        /// The first error of a manager that cannot be created.
        var fault: String?
    }

    struct Edge: Encodable, Sendable {
        enum Style: String, Encodable, Sendable {
            case native, encoded, served
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
        return [name ?? component] + (name == nil || component.isEmpty ? [] : [component])
            + [plugin, streams, fault?.shortened(to: 100)].compactMap(\.self)
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
            case .served: "encoded, through the host"
            case .open: ""
            }
        return [label, contract, lane].filter { !$0.isEmpty }
    }
}
