import Backplane
import BackplaneBoundary

/// The instances of components: what each needs to be made, and gives back when it ends.
struct Instances {
    let live: LiveComposition
    let starter: ComponentStarter
    /// How one component, by its node's id, reaches managers that its wires do not name.
    let finder: @Sendable (Int, ComponentClass) -> ManagerFinder

    /// A component that a new one is wired to.
    struct Provider {
        var component: RunningComponent
        /// It is going to be swapped: as long as it does not serve the wire, calls are refused.
        var isLater = false
    }

    /// Gives a node the number that calls through it are known by.
    ///
    /// - Throws: located where the component is defined, when all are taken.
    func number(_ node: LiveNode) throws(BackplaneError) {
        node.number = try live.numbers.take(for: node.node)
    }

    /// Makes the instance of a node that has its number.
    ///
    /// - Parameters:
    ///   - manifest: what the node's class is from.
    ///   - provider: the one that a wire leads to, by its place in that manifest's plan.
    /// - Throws: why it was not made, located where the manifest defines it.
    func make(
        _ node: LiveNode, of type: ComponentClass, in manifest: LoadedManifest, limit: Duration? = nil, wiredTo provider: (Int) -> Provider?
    ) async throws(BackplaneError) -> RunningComponent {
        let wires = node.node.wires.compactMap { wire -> OpenWire? in
            guard let provider = provider(wire.provider), let end = type.consumerEnd(ofWire: wire.label) else { return nil }
            return live.connections.connect(node, wire.label, end, to: provider.component, isLater: provider.isLater)
        }
        return try await starter.make(
            node.node, type, number: node.number ?? 0, gate: node.gate, resources: manifest.resources(of: node.node), wires, finder(node.id, type), limit: limit)
    }

    /// Gives back what a node has while it lives.
    func end(_ node: LiveNode) {
        live.connections.abandon(usedBy: node)
        node.found = [:]
        if let number = node.number { live.numbers.giveBack(number) }
        node.number = nil
    }

    /// The same of one that is not in the plan in force.
    func giveBack(_ node: LiveNode) {
        end(node)
        live.dismiss(node)
    }
}

// MARK: Suspending

extension Instances {
    /// Suspends an instance that nobody calls: what it began with the host's services ends before, or at least in, its `suspend`.
    ///
    /// - Returns: what had to be cut short.
    func suspend(_ component: RunningComponent, _ limit: Duration, canBeGivenUp: Bool = true) async throws(BackplaneError) -> String? {
        let served = ComponentHandles.find(component.handle)
        let isIdle = { !(served?.isBusy ?? false) }
        _ = await live.drained(Self.servicesLimit, isIdle)
        try await starter.limited("be suspended", component.node, limit: limit, canBeGivenUp: canBeGivenUp) { watch async throws(BackplaneError) in
            try await component.instance.suspend(watch)
        }
        if await live.drained(Self.servicesLimit, isIdle) { return nil }
        served?.exchanges.cancelAll()
        return isIdle()
            ? "\(component.name) had exchanges under way after it was suspended, which were cancelled; let `suspend` end what was begun"
            : "\(component.name) goes on to use the host's services though it was suspended; let `suspend` end what was begun"
    }

    /// How long what a component began with the host's services may take to end before, and again after, it is suspended.
    private static var servicesLimit: Duration { .seconds(1) }
}
