import Backplane

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
        await lastChange?.value
        for node in nodes { _ = await node.startUnderWay?.value }
        await stop(started) { $0.gate.close() }
        loadFolder?.remove()
        retire()
    }

    /// Stops what another plan has not, or has otherwise; calls of what it has otherwise wait until that is up.
    func stop(_ leaving: [LiveNode], for plan: Plan) async {
        for node in leaving where node.node.role == .manager { remotes.close(node.node) }
        await stop(leaving.filter { $0.running != nil }) { [names = Set(plan.managers.keys)] node in
            if node.node.role == .manager, !names.contains(node.node.name) {
                node.gate.refuse(BackplaneError(.unknownManager, "the manifest in force has no manager `\(node.node.name)` any more"))
            } else {
                node.gate.hold(lettingAside: false)
            }
        }
    }

    /// - Parameter shut: lets no more calls into one.
    private func stop(_ leaving: [LiveNode], shut: (LiveNode) -> Void) async {
        let ids = Set(leaving.map(\.id)), byID = Dictionary(uniqueKeysWithValues: leaving.map { ($0.id, $0) })
        let order = StopOrder.of(started.map(\.id).filter(ids.contains)) { id in byID[id].map(providers) ?? [] }
        for node in order.compactMap({ byID[$0] }) {
            guard let component = node.running else { continue }
            node.state = .quiescing
            shut(node)
            await stop(component)
            node.state = .stopped
            end(node)
        }
        started.removeAll { ids.contains($0.id) }
    }

    /// Those that a component can call, by id.
    private func providers(of live: LiveNode) -> [Int] {
        let managers = loaded.plan.managers
        return live.node.wires.map { nodes[$0.provider].id } + live.found.keys.compactMap { managers[$0.manager].map { nodes[$0].id } }
    }

    private func stop(_ component: RunningComponent) async {
        let gate = component.gate
        let isDrained = await timer.waits(options.stopLimit) {
            gate.callsInFlight == 0 && gate.callsAside == 0
        }
        component.calls.close()
        let isIdle = isDrained ? await timer.waits(options.stopLimit) { component.calls.callsInFlight == 0 } : false
        guard isIdle else {
            log(.error, "left as it is: calls into it have not ended", component)
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
        await starter.retire(component.handle, releasing: component.instance)
    }
}
