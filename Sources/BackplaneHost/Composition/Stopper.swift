import Backplane

/// The stopping of components: a leaving component after its callers, and a replaced one once its calls have ended.
final class Stopper {
    let live: LiveComposition
    let instances: Instances
    let starter: Starter
    /// The old instances that have calls in flight or are being released, in the order in which their retirement
    /// started.
    private(set) var retirementsUnderWay: [Retirement] = []

    init(_ starter: Starter) {
        (live, instances, self.starter) = (starter.live, starter.instances, starter)
    }

    func stopAll() async {
        for retirement in retirementsUnderWay { await retirement.end.value }
        for node in live.nodes { _ = await node.startUnderWay?.value }
        for node in live.nodes where node.running == nil { node.gate.close() }
        for component in live.leftBehind { component.endCalls() }
        // Otherwise, a call that reads a stream would not end.
        for node in live.nodesByID.values { node.callable?.streams.interrupt(.hostHasStopped) }
        if live.isLoaded {
            await stop(live.started, of: live.loaded.plan, live.nodes) { node in node.gate.close(passage: node.passage)
            }
        }
        live.closeGates()
    }

    /// Stops nodes: each after its callers, otherwise in reverse order of their start.
    ///
    /// - Parameters:
    ///   - plan: The plan of the nodes.
    ///   - nodes: All nodes of that plan, by position.
    ///   - shut: A function that closes a node's gate to further calls; by default, it is closed already.
    func stop(_ leaving: [LiveNode], of plan: Plan, _ nodes: [LiveNode], shut: (LiveNode) -> Void = { _ in }) async {
        let ids = Set(leaving.map(\.id)), started = live.started.filter { ids.contains($0.id) }
        let numbers = Dictionary(zip(started.map(\.id), started.indices), uniquingKeysWith: { first, _ in first })
        let graph = UseGraph(
            uses: started.map { node in
                let called = plan.called(by: node.node) + node.found.keys.compactMap { plan.managers[$0.manager] }
                return called.compactMap { numbers[nodes[$0].id] }
            })
        // In a cycle, which lookups can cause, the last one started stops first.
        for node in graph.components().joined().reversed().map({ started[$0] }) {
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

    private func stop(_ component: RunningComponent, of node: LiveNode) async {
        let gate = component.gate, limit = live.options.stopLimit
        component.timers.hold()
        component.streams.interrupt(live.isStopped ? .hostHasStopped : .streamInterrupted)
        let isDrained = await live.clock.waits(limit) {
            gate.callsInFlight == 0 && gate.callsAside == 0 && !component.timers.isBusy
        }
        gate.closePassage()
        component.calls.close()
        live.endStreams(openedBy: component)
        // Calls that the component itself began may have come back to it in the meantime, and calls that read its
        // streams end with the streams.
        let isIdle = await live.clock.waits(isDrained ? limit : min(limit, .seconds(1))) {
            (isDrained || gate.callsInFlight == 0 && !component.timers.isBusy) && gate.callsAside == 0
                && component.calls.callsInFlight == 0 && component.streams.count == 0 && node.isBetweenSteps(component)
        }
        starter.giveUpLookUps(of: node)
        guard isIdle else { return await leaveBehind(component, isInStep: !node.isBetweenSteps(component)) }
        do {
            try await instances.limited(
                "stop", component.node, limit: limit, canBeGivenUp: false, step: component.instance.stop)
            live.log(.debug, "stopped", component)
        } catch {
            live.log(.error, "did not stop", component, error)
        }
        starter.giveUpLookUps(of: node)
        component.settle()
        await instances.retire(component.handle, releasing: component.instance)
    }

    /// Ends the host's services for a component, and leaves its instance alone, because its code is still running.
    private func leaveBehind(_ component: RunningComponent, isInStep: Bool) async {
        live.log(
            .error, component.stillInUse(isInStep: isInStep), component,
            methods: component.calls.methodsInFlight, timers: component.timers.namesInFlight)
        live.leaveBehind(component)
        await instances.retire(component.handle, releasing: nil)
        component.settle()
    }
}

/// An old instance that has not ended because it has calls in flight or is being released.
struct Retirement {
    let component: RunningComponent
    /// The bindings that were removed from slots when wires were connected to another instance.
    let bindings: Set<Binding>
    let end: Task<Void, Never>

    var callsInFlight: Int {
        let leased = Array(bindings).callsInFlight
        // An encoded call whose caller has abandoned it no longer holds a lease.
        return leased > 0 ? leased : component.calls.callsInFlight
    }
}

extension Stopper {
    /// Retires an instance without callers: returns immediately, and ends the instance once its calls in flight have
    /// ended.
    ///
    /// - Parameters:
    ///   - suspending: Whether the instance must release what it has acquired.
    ///   - hasServed: Whether the instance has started, and not only been created.
    func retire(
        _ component: RunningComponent, _ node: LiveNode, _ bindings: Set<Binding>, suspending: Bool,
        hasServed: Bool = true, in domain: isolated (any Actor)? = #isolation
    ) async {
        node.state = .stopped
        component.streams.interrupt(.streamInterrupted)
        component.gate.disown(bindings)
        // Until it has ended, the instance may itself call other components.
        live.admit(node)
        let end = Task {
            _ = domain
            await finish(component, node, bindings, suspending: suspending, hasServed: hasServed)
            retirementsUnderWay.removeAll { $0.component === component }
        }
        retirementsUnderWay.append(Retirement(component: component, bindings: bindings, end: end))
    }

    private func finish(
        _ component: RunningComponent, _ node: LiveNode, _ bindings: Set<Binding>, suspending: Bool, hasServed: Bool
    ) async {
        let limit = live.options.stopLimit
        let isIdle = { [instances] in
            bindings.allSatisfy { $0.callsInFlight == 0 } && component.calls.callsInFlight == 0
                && component.streams.count == 0 && !component.instance.isInStep
                && instances.graphs.count(of: component.handle) == 0
        }
        if !Drain.looks(isIdle) {
            await live.waits(for: isIdle)
            if live.isStopped {
                instances.graphs.cancelAll(of: component.handle)
                _ = await live.clock.waits(limit, for: isIdle)
            }
        }
        component.calls.close()
        // A cancellation may have reached the instance before; from here on, nothing does.
        guard await live.clock.waits(min(limit, .seconds(1)), for: isIdle) else {
            await leaveBehind(component, isInStep: component.instance.isInStep)
            return instances.giveBack(node)
        }
        if suspending {
            do {
                if let cut = try await instances.suspend(component, limit, canBeGivenUp: false) {
                    live.log(.warning, cut, component)
                }
            } catch {
                live.log(.error, "did not release its resources after it was swapped", component, error)
            }
        }
        if hasServed { live.log(.debug, "stopped", component) }
        starter.giveUpLookUps(of: node)
        // The instance's tasks may have opened streams after it was suspended.
        live.endStreams(openedBy: component)
        component.settle()
        await instances.retire(component.handle, releasing: component.instance)
        instances.giveBack(node)
        live.endStreams(openedBy: component)
    }
}
