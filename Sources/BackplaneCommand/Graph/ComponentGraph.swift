import BackplaneTerminal

/// Components and the wires between them, as they are drawn.
struct ComponentGraph: Encodable, Sendable {
    var nodes: [Node]
    var edges: [Edge]

    struct Node: Encodable, Sendable {
        enum Kind: String, Encodable, Sendable, CaseIterable {
            case manager, dataAccessController, communicationController, networkService
            /// A manager that cannot be created.
            case fault
        }
        /// Letters and digits; the same as long as the manifest is.
        var id: String
        var kind: Kind
        /// Of a manager, in the manifest.
        var name: String?
        var className: String?
        var version: String?
        var plugin: String?
        /// Those in whose definition it stands.
        var managers: [String]
        /// The first thing that is wrong with it.
        var fault: String?
    }

    struct Edge: Encodable, Sendable {
        enum Style: String, Encodable, Sendable {
            case native, encoded, served
            /// Asked for by one that cannot be created.
            case open
        }
        var from: String
        var to: String
        var label: String
        var contract: String?
        var version: String?
        var style: Style
        /// Why not natively.
        var because: String?
    }
}

extension ComponentGraph.Node {
    /// What is written on it, a line each, the first one being its name.
    var lines: [String] {
        let component = [className, version].compactMap(\.self).joined(separator: " ")
        return [name ?? component] + (name == nil || component.isEmpty ? [] : [component]) + [plugin, fault?.shortened(to: 100)].compactMap(\.self)
    }
}

extension ComponentGraph.Edge {
    /// What is written on it, a line each.
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
