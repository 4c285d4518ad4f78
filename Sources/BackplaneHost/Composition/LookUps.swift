import Backplane

/// The lookups by components of managers that their wires do not name.
extension Starter {
    /// Returns a wire to a manager, which is started if it is not running.
    ///
    /// - Parameter asker: The id of the node that requests the lookup.
    func find(
        _ manager: String, _ needed: ConsumerEnd, for asker: Int, _ call: Call?
    ) async throws(BackplaneError) -> OpenWire {
        guard let user = live.nodesByID[asker] else { throw .askerStopped }
        try live.requireRunning()
        let contract = needed.side.contract,
            key = FoundWire(manager: manager, contract: contract, layout: needed.side.layout.read())
        // A manager that is running can be looked up during any change, even one that stops it: calls wait.
        while up(manager, for: asker) == nil {
            try await lookUp(manager, by: user, call)
            try live.requireRunning()
        }
        guard let component = up(manager, for: asker), user.number != nil else { throw .askerStopped }

        try component.node.requireService(of: contract)
        if let known = user.found[key] { return known }
        let wire = live.wires.connect(user, manager, needed, to: component)
        user.found[key] = wire
        return wire
    }

    private func up(_ manager: String, for asker: Int) -> RunningComponent? {
        rollback(for: asker)?.returned[manager]
            ?? live.loaded.plan.managers[manager].flatMap { live.nodes[$0].callable }
    }

    /// Returns the handover with the managers that have returned during a rollback; `nil` for the rejected code.
    private func rollback(for asker: Int) -> Handover? {
        live.handover.flatMap { $0.incoming.contains(asker) ? nil : $0 }
    }

    private func lookUp(
        _ manager: String, by user: LiveNode, _ call: Call?, in domain: isolated (any Actor)? = #isolation
    ) async throws(BackplaneError) {
        let place = try live.loaded.node(ofManager: manager).id, provider = live.nodes[place]
        if live.isBarred(provider), live.handover?.incoming.contains(user.id) ?? false {
            throw BackplaneError(
                .dependencyUnsatisfied,
                "`\(manager)` is not running, and is being swapped together with \(user.node.name); look it up later, when it is first called",
                at: user.node.location)
        }
        // A component waits on behalf of all components that wait for it, including the callers along the path of its
        // call.
        let waiting = [user] + nodes(along: call).filter { $0 !== user }
        var edges: [LiveNode] = []
        defer { for node in edges { node.stopWaiting(for: provider) } }
        for node in waiting where node.running == nil {
            try wait(for: provider, by: node, isLookUp: true)
            edges.append(node)
        }
        // The number of the round also identifies the lookup.
        let id = nextAttempt()
        let found = await withUnsafeContinuation { continuation in
            lookUps[id] = (user, continuation)
            Task {
                _ = domain
                end(id, await start(provider, during: id))
            }
        }
        _ = try found.get()
    }

    private func end(_ lookUp: LiveNode.Attempt, _ found: Result<RunningComponent, BackplaneError>) {
        lookUps.removeValue(forKey: lookUp)?.continuation.resume(returning: found)
    }

    /// Ends the lookups of a component that has no more callers.
    func giveUpLookUps(of node: LiveNode) {
        for (id, lookUp) in lookUps where lookUp.asker === node { end(id, .failure(.askerStopped)) }
    }

    private func nodes(along call: Call?) -> [LiveNode] {
        guard let path = call?.path, !path.isEmpty else { return [] }
        return live.nodes.filter { node in node.number.map(path.contains) ?? false }
    }

    /// Returns the managers that serve a contract, as JSON.
    ///
    /// - Parameter asker: The id of the node that requests the lookup.
    func providers(of needed: ContractDescription, for asker: Int) -> EncodedAnswer {
        let plan = rollback(for: asker)?.earlier ?? live.loaded.plan
        do throws(BackplaneError) {
            return EncodedAnswer(try JSON.encode(plan.providers(of: needed), failing: .callInvalidOutput))
        } catch {
            return EncodedAnswer(error)
        }
    }
}

extension Plan {
    /// Returns the managers that serve a contract, ordered by plugin and then by name.
    func providers(of needed: ContractDescription) -> [ManagerDescription] {
        managers.map { (name: $0.key, entry: nodes[$0.value].entry) }
            .filter { $0.entry.component.contract.difference(from: needed) == nil }
            .sorted { ($0.entry.order, $0.name) < ($1.entry.order, $1.name) }
            .map {
                ManagerDescription(
                    name: $0.name, className: $0.entry.component.className, version: $0.entry.component.version,
                    plugin: $0.entry.plugin)
            }
    }
}

extension LiveNode {
    fileprivate func stopWaiting(for provider: LiveNode) {
        if let index = awaited.firstIndex(where: { $0 === provider }) { awaited.remove(at: index) }
    }
}
