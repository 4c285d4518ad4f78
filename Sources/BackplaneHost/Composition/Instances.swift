import Backplane

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

/// The data of data access controllers that continue under another namespace.
extension Instances {
    /// Records the location of the data of a component that has started successfully.
    ///
    /// Until the manifest changes again, the data remains accessible there, so a failure is only logged.
    func keepData(of component: RunningComponent) {
        guard let place = component.dataPlace else { return }
        do throws(BackplaneError) { try starter.data.keep(component.node, at: place) } catch {
            live.log(.error, "could not record where the data of a renamed component is", component, error)
        }
    }

    /// Records the location of the data of all controllers that continue a former namespace, whether they are running
    /// or not.
    ///
    /// Otherwise, they would not find it once the manifest no longer states their former names.
    func keepFormerData(in plan: Plan) async {
        for node in plan.nodes where node.dataNamespace != nil && node.was != nil {
            do throws(BackplaneError) {
                if let place = try await starter.data.place(of: node, in: plan) {
                    try starter.data.keep(node, at: place)
                }
            } catch {
                live.options.log.write(
                    LogRecord(
                        level: .error, source: "host",
                        message: "could not record where the data of a renamed component is",
                        metadata: ["component": node.name, "error": error.description]))
            }
        }
    }

    /// Returns an error for each data access controller that a change would leave without its data.
    ///
    /// The data stays where it is, but the controller would look for it elsewhere.
    func dataLeftBehind(from old: LoadedManifest, to new: LoadedManifest, _ succession: Succession) async
        -> [BackplaneError]
    {
        let before = succession.before
        var errors: [BackplaneError] = []
        for node in new.plan.nodes {
            guard let namespace = node.dataNamespace, let was = before[node.id].map({ old.plan.nodes[$0] }),
                let left = was.dataNamespace,
                let place = try? await starter.data.place(of: was, in: old.plan),
                let next = try? await starter.data.place(of: node, in: new.plan), place != next,
                await hasData(at: place)
            else { continue }
            let former = left == namespace ? was.was ?? place : left
            let advice =
                node.was == former
                ? "it already has its own folder, `\(next)`: move that folder away,"
                : "write `\"was\": \"\(former)\"` in its definition, give it `\"namespace\": \"\(former)\"`,"
            errors.append(
                BackplaneError(
                    .stateIncompatible,
                    "\(node.name) would start without the data that it stored as `\(former)`; \(advice) or continue "
                        + "without the data (`ChangeOptions.discardsState`)",
                    at: node.location))
        }
        return errors
    }

    private func hasData(at place: String) async -> Bool {
        guard starter.store.isOpen else { return starter.data.hasFiles(at: place) }
        return (try? await starter.data.hasData(at: place)) ?? false
    }
}

/// The constraints of a swap in progress on starts: the nodes that must not start, and when to try again.
final class Handover {
    /// The ids of the nodes that the swap starts.
    let incoming: Set<Int>
    /// The ids of the nodes that must not start during the swap.
    var withheld: Set<Int>
    /// The starts that wait for the swap.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []
    /// A Boolean value that indicates whether starts need not wait.
    private(set) var hasEnded = false

    init(incoming: Set<Int>, withheld: Set<Int>) {
        (self.incoming, self.withheld) = (incoming, withheld)
    }

    /// Waits until callers are served by the new code, or the swap has ended.
    func wait() async {
        if !hasEnded { await withUnsafeContinuation { waiting.append($0) } }
    }

    /// Makes starts wait again, because the old code is about to return.
    func beginAgain() { hasEnded = false }

    /// Resumes the waiting starts, and lets later ones pass.
    func end() {
        hasEnded = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
