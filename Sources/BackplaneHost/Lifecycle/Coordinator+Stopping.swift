import Backplane
import BackplaneBoundary

extension Coordinator {
    /// Stops once; whoever else asks waits until it is over.
    func stop() async {
        let task = stopping ?? Task { await stopAll() }
        stopping = task
        await task.value
    }

    private func stopAll() async {
        // What is still starting is not waited for: it may never come up.
        remotes.clear()
        starter.underWay.giveUp()
        await takeTurn()
        defer { endTurn() }     // whoever asked for a change meanwhile learns that the host has stopped
        await endRetirements()
        for node in nodes { _ = await node.startUnderWay?.value }
        for node in nodes where node.running == nil { node.gate.close() }
        await stop(started) { node, _ in node.gate.close(passage: node.passage) }
        closeGates()
        loadFolder?.remove()
        retire()
    }

    /// Stops what another plan has not, or has otherwise; calls of what it has otherwise wait until that is up.
    func stop(_ leaving: [LiveNode], for plan: Plan) async {
        func shut(_ node: LiveNode) {
            if node.node.role == .manager, plan.managers[node.node.name] == nil {
                let error = BackplaneError(.unknownManager, "the manifest in force has no manager `\(node.node.name)` any more")
                node.gate.refuse(error, passage: node.passage)
            } else if node.isStopping {
                node.gate.hold(lettingAside: false, passage: node.passage, retreat: retreat)
            }
        }
        let retreat = Retreat()
        var held: [Gate] = []
        for node in leaving where node.node.role == .manager {
            remotes.close(node.node)
            if node.running == nil { shut(node) }
        }
        await stop(leaving.filter { $0.running != nil }) { node, component in
            shut(node)
            if let number = node.number { retreat.add(number) }
            // Calls that came through it may wait already for what has been stopped before it.
            if node.gate.callsInFlight > 0 || component.calls.callsInFlight > 0 { for gate in held { gate.refuseHeldUp() } }
            held.append(node.gate)
        }
    }

    /// - Parameter shut: lets no more calls into one.
    private func stop(_ leaving: [LiveNode], shut: (LiveNode, RunningComponent) -> Void) async {
        let ids = Set(leaving.map(\.id)), byID = Dictionary(uniqueKeysWithValues: leaving.map { ($0.id, $0) })
        let order = StopOrder.of(started.map(\.id).filter(ids.contains)) { id in byID[id].map(providers) ?? [] }
        for node in order.compactMap({ byID[$0] }) {
            guard let component = node.running else { continue }
            node.state = .quiescing(component)
            giveUpHopelessLookUps()
            shut(node, component)
            await stop(component, of: node)
            node.state = .stopped
            end(node)
        }
        started.removeAll { ids.contains($0.id) }
    }

    /// Those that a component can call, by id.
    private func providers(of live: LiveNode) -> [Int] {
        let managers = loaded.plan.managers
        // Its layers, too, that its class does not ask for.
        let layers = live.node.role == .manager ? loaded.plan.layers(of: live.node).map { nodes[$0.id].id } : []
        return layers + live.node.wires.map { nodes[$0.provider].id } + live.found.keys.compactMap { managers[$0.manager].map { nodes[$0].id } }
    }

    private func stop(_ component: RunningComponent, of node: LiveNode) async {
        let gate = component.gate
        let isDrained = await timer.waits(options.stopLimit) {
            gate.callsInFlight == 0 && gate.callsAside == 0
        }
        gate.closePassage()
        component.calls.close()
        // What it began itself may have come back to it meanwhile.
        let isIdle = isDrained ? await timer.waits(options.stopLimit) {
            gate.callsAside == 0 && component.calls.callsInFlight == 0 && isBetweenSteps(component)
        } : false
        giveUpLookUps(of: node)
        guard isIdle else {
            log(.error, isBetweenSteps(component) ? "left as it is: calls into it have not ended" : "left as it is: a step of it has not ended", component)
            await starter.retire(component.handle, releasing: nil)
            return
        }
        do {
            try await starter.limited("stop", component.node, limit: options.stopLimit, canBeGivenUp: false) { watch async throws(BackplaneError) in
                try await component.instance.stop(watch, HostThread.launch)
            }
            log(.debug, "stopped", component)
        } catch {
            log(.error, "did not stop", component, error)
        }
        giveUpLookUps(of: node)
        await starter.retire(component.handle, releasing: component.instance)
    }
}
