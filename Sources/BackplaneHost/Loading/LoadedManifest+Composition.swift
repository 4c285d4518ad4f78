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

    /// Returns the wires of the plan, whose components need not be up.
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
