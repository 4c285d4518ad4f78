import Backplane
import BackplaneBoundary

/// The creation of component instances, and the resources that they use.
struct Instances {
    let live: LiveComposition
    let starter: ComponentStarter
    /// Returns the function with which a component, identified by its node's id, looks up managers that its wires do
    /// not name.
    let finder: @Sendable (Int, ComponentClass) -> ManagerFinder

    /// The provider of a wire of a new component.
    struct Provider {
        var component: RunningComponent
        /// A Boolean value that indicates whether the provider is about to be swapped.
        ///
        /// Calls are refused while it does not serve the wire.
        var isLater = false
    }

    /// Assigns a node the number that identifies it in the path of calls.
    ///
    /// - Throws: An error at the component's definition if all numbers are in use.
    func number(_ node: LiveNode) throws(BackplaneError) {
        let number = try live.numbers.take(for: node.node)
        live.consumers.begin(number)
        node.number = number
    }

    /// Creates the instance of a node that has its number.
    ///
    /// - Parameters:
    ///   - manifest: The manifest from which the node's class comes.
    ///   - provider: A function that returns the provider of a wire, by its place in that manifest's plan.
    /// - Throws: The reason why the instance was not created, located at its definition in the manifest.
    func make(
        _ node: LiveNode, of type: ComponentClass, in manifest: LoadedManifest, limit: Duration? = nil,
        wiredTo provider: (Int) -> Provider?
    ) async throws(BackplaneError) -> RunningComponent {
        let wires = node.node.wires.compactMap { wire -> OpenWire? in
            guard let provider = provider(wire.provider), let end = type.consumerEnd(ofWire: wire.label) else {
                return nil
            }
            return live.connections.connect(node, wire.label, end, to: provider.component, isLater: provider.isLater)
        }
        return try await starter.make(
            node.node, type, of: manifest.plugins[node.node.entry.order], in: manifest.plan,
            number: node.number ?? 0, gate: node.gate,
            wires, finder(node.id, type),
            exchanging: live.isActive(manifest) ? nil : starter.network.network(of: manifest.document), limit: limit)
    }

    /// Releases the resources of a node that has ended.
    func end(_ node: LiveNode) {
        live.connections.abandon(usedBy: node)
        node.found = [:]
        if let number = node.number {
            live.consumers.end(number)
            live.numbers.giveBack(number)
        }
        node.number = nil
    }

    /// Releases the resources of a node outside the active plan, and removes it.
    func giveBack(_ node: LiveNode) {
        end(node)
        live.dismiss(node)
    }
}

// MARK: Suspending

extension Instances {
    /// Suspends an instance without callers once its use of the host's services has ended or a time limit has passed.
    ///
    /// - Returns: A warning if the instance continued to use those services after its `suspend`.
    func suspend(_ component: RunningComponent, _ limit: Duration, canBeGivenUp: Bool = true)
        async throws(BackplaneError) -> String?
    {
        live.endStreams(openedBy: component)
        let served = ComponentHandles.find(component.handle)
        let isIdle = { !(served?.isWorking ?? false) }, servicesLimit = live.options.servicesLimit
        _ = await live.drained(servicesLimit, isIdle)
        try await starter.limited("be suspended", component.node, limit: limit, canBeGivenUp: canBeGivenUp) {
            watch async throws(BackplaneError) in
            try await component.instance.suspend(watch)
        }
        if await live.drained(servicesLimit, isIdle) { return nil }
        served?.exchanges.retireAll(forGood: false)
        return isIdle()
            ? "\(component.name) had exchanges in flight after it was suspended, which were ended; `suspend` must end them"
            : "\(component.name) still uses the host's services although it was suspended; `suspend` must end such work"
    }
}
