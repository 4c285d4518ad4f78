import Backplane
import BackplaneBoundary

extension Coordinator {
    func composition() -> Composition { loaded.composition(options.lanes) }
}

extension LoadedManifest {
    /// What tools look at.
    func composition(_ rule: LaneRule) -> Composition {
        let plugins = plugins.map { Composition.Plugin(id: $0.description.id, version: $0.description.version, library: $0.path) }
        return Composition(document, catalogue: catalogue, plan: plan, problems: problems, plugins: plugins, wires: wires(rule))
    }

    /// The wires that the plan will have; nothing of it need be up for that.
    private func wires(_ rule: LaneRule) -> [Composition.Wire] {
        var comparisons = LayoutComparisons()
        return plan.nodes.flatMap { user in
            user.wires.compactMap { wire -> Composition.Wire? in
                let provider = plan.nodes[wire.provider]
                guard let consumer = componentClass(of: user).consumerSide(ofWire: wire.label) else { return nil }
                let lane = Lane(from: consumer, to: componentClass(of: provider).providerSide, rule) { comparisons.difference($0, $1) }
                return Composition.Wire(
                    user: user.id, label: wire.label, provider: provider.id, contract: consumer.contract.name, version: consumer.contract.version,
                    lane: WireStatus.Lane(lane, of: consumer))
            }
        }
    }
}

extension WireStatus.Lane {
    fileprivate init(_ lane: Lane, of consumer: LaneSide) {
        switch lane {
        case .native: self = .native
        case .encoded(let reason):
            let sharesSlots = consumer.origin.revision == LaneOrigin.program.revision
            self = sharesSlots ? .encoded(because: reason) : .served(because: reason)
        }
    }
}
