import Backplane

/// The stopping of components, each after its callers.
struct Shutdown {
    let live: LiveComposition
    let instances: Instances
    let lookUps: LookUpsUnderWay

    /// Permanently stops all components.
    func stopAll() async {
        for node in live.nodes { _ = await node.startUnderWay?.value }
        for node in live.nodes where node.running == nil { node.gate.close() }
        live.endCallsLeftBehind()
        // A call that reads a stream would otherwise not end.
        live.endAllStreams()
        await stop(live.started, of: live.loaded.plan, live.nodes) { node in node.gate.close(passage: node.passage) }
        live.closeGates()
    }

    /// Stops nodes in order.
    ///
    /// - Parameters:
    ///   - plan: The plan of the nodes.
    ///   - nodes: All nodes of that plan, by position.
    ///   - shut: A function that closes a node's gate to further calls; by default, it is closed already.
    func stop(_ leaving: [LiveNode], of plan: Plan, _ nodes: [LiveNode], shut: (LiveNode) -> Void = { _ in }) async {
        let ids = Set(leaving.map(\.id)), byID = Dictionary(uniqueKeysWithValues: leaving.map { ($0.id, $0) })
        let order = StopOrder.of(live.started.map(\.id).filter(ids.contains)) { id in
            byID[id].map { providers(of: $0, in: plan, nodes) } ?? []
        }
        for node in order.compactMap({ byID[$0] }) {
            guard let component = node.running else { continue }
            node.state = .quiescing(component)
            shut(node)
            await stop(component, of: node)
            node.state = .stopped
            instances.end(node)
            // A task of the component may have opened a stream again before its wires were closed.
            live.endStreams(openedBy: component)
        }
        live.started.removeAll { ids.contains($0.id) }
    }

    /// Returns the ids of the nodes that a component can call.
    private func providers(of node: LiveNode, in plan: Plan, _ nodes: [LiveNode]) -> [Int] {
        // A manager can also call collaborators that its class does not declare.
        let layers = node.node.role == .manager ? plan.layers(of: node.node).map { nodes[$0.id].id } : []
        return layers + node.node.wires.map { nodes[$0.provider].id }
            + node.found.keys.compactMap { plan.managers[$0.manager].map { nodes[$0].id } }
    }

    private func stop(_ component: RunningComponent, of node: LiveNode) async {
        let gate = component.gate, limit = live.options.stopLimit, starter = instances.starter
        component.timers.hold()
        component.streams.interrupt(live.isStopped ? .hostHasStopped : .streamInterrupted)
        let isDrained = await live.clock.waits(limit) {
            gate.callsInFlight == 0 && gate.callsAside == 0 && !component.timers.isBusy
        }
        gate.closePassage()
        component.calls.close()
        live.endStreams(openedBy: component)
        // Calls that the component itself began may have come back to it in the meantime, and those that read its
        // streams end with them.
        let isIdle = await live.clock.waits(isDrained ? limit : min(limit, .seconds(1))) {
            (isDrained || gate.callsInFlight == 0 && !component.timers.isBusy) && gate.callsAside == 0
                && component.calls.callsInFlight == 0 && component.streams.count == 0 && node.isBetweenSteps(component)
        }
        lookUps.giveUp(of: node)
        guard isIdle else {
            live.log(
                .error,
                component.stillInUse(isInStep: !node.isBetweenSteps(component)),
                component, methods: component.calls.methodsInFlight, timers: component.timers.namesInFlight)
            live.leaveBehind(component)
            await starter.retire(component.handle, releasing: nil)
            return component.settle()
        }
        do {
            try await starter.limited("stop", component.node, limit: limit, canBeGivenUp: false) {
                watch async throws(BackplaneError) in
                try await component.instance.stop(watch)
            }
            live.log(.debug, "stopped", component)
        } catch {
            live.log(.error, "did not stop", component, error)
        }
        lookUps.giveUp(of: node)
        component.settle()
        await starter.retire(component.handle, releasing: component.instance)
    }
}

/// The order in which components stop: each after its callers, otherwise in reverse order of their start.
enum StopOrder {
    /// Returns the components in the order in which they stop.
    ///
    /// - Parameters:
    ///   - started: The components in the order in which they started.
    ///   - providers: A function that returns the components that a component calls. In a cycle, which lookups can
    ///     cause, the last one started stops first.
    static func of<Component: Hashable>(_ started: [Component], calling providers: (Component) -> [Component])
        -> [Component]
    {
        let known = Set(started)
        var order: [Component] = [], seen: Set<Component> = []
        for start in started where seen.insert(start).inserted {
            // An explicit stack rather than recursion: a chain of managers may be as long as a manifest.
            var stack = [(component: start, next: providers(start).filter(known.contains)[...])]
            while let (component, next) = stack.last {
                if let provider = next.first {
                    stack[stack.count - 1].next = next.dropFirst()
                    if seen.insert(provider).inserted {
                        stack.append((provider, providers(provider).filter(known.contains)[...]))
                    }
                } else {
                    order.append(component)
                    stack.removeLast()
                }
            }
        }
        return order.reversed()
    }
}
