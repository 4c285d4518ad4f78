import Backplane
import BackplaneBoundary

extension LoadedManifest {
    /// Returns the composition for tools.
    func composition(_ rule: LaneRule) -> Composition {
        let plugins = plugins.map {
            Composition.PluginOrigin(id: $0.description.id, version: $0.description.version, library: $0.path)
        }
        return Composition(
            document, catalogue: catalogue, plan: plan, problems: problems, plugins: plugins, wires: wires(rule))
    }

    /// The warnings about Swift state that can cross only as JSON, even to a rebuild of the same code.
    var encodedStates: [Problem] {
        let warnings = plan.nodes.compactMap { node -> Problem? in
            // Other code has bytes of its own choice, and no values of Swift.
            guard let side = componentClass(of: node).stateSide, side.origin.revision != 0,
                case .encoded(let reason) = LaneChoice(from: side, to: side, as: side.state.version, .fastest)
            else { return nil }
            let text = "the state of \(node.name) can only be carried over as JSON, for which calls wait: \(reason)"
            return Problem(
                .warning, manager: node.managers.first, BackplaneError(.stateIncompatible, text, at: node.location))
        }
        return document.positioning(warnings)
    }

    /// Returns the wires of the plan, whose components need not be running.
    private func wires(_ rule: LaneRule) -> [Composition.PlannedWire] {
        var comparisons = LayoutComparisons()
        return plan.nodes.flatMap { user in
            user.wires.compactMap { wire -> Composition.PlannedWire? in
                let provider = plan.nodes[wire.provider]
                guard let consumer = componentClass(of: user).consumerSide(ofWire: wire.label) else { return nil }
                let lane = LaneChoice(from: consumer, to: componentClass(of: provider).providerSide, rule) {
                    comparisons.difference($0, $1)
                }
                return Composition.PlannedWire(
                    user: user.id, label: wire.label, provider: provider.id, contract: consumer.contract.name,
                    version: consumer.contract.version,
                    lane: WireStatus.Lane(lane, of: consumer))
            }
        }
    }
}
