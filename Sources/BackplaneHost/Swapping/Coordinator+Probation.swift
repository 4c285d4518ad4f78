import Backplane

/// What a generation has to prove after it came into force, and what happens when it fails.
extension Coordinator {
    /// - Throws: why the new generation is not good enough.
    func watch(_ swap: SwapUnderWay) async throws(BackplaneError) {
        guard let probation = swap.options.probation else { return }
        swap.isOnProbation = true
        letLook()
        swap.reportProbation?(swap.report.plugins)
        defer { swap.isOnProbation = false }
        let end = Deadline.now + .seconds(probation.duration)
        var nextHealth = Deadline.now
        while Deadline.now < end, turns.allSatisfy(\.onlyLooks), !isStopped {
            if Deadline.now >= nextHealth {
                for member in swap.members { try await checkHealth(member, swap) }
                nextHealth = .now + .seconds(probation.healthInterval)
            }
            for member in swap.members { try probation.judge(counts(member) - member.baseline, member.name) }
            await timer.pause(min(.milliseconds(20), end - .now))
        }
    }

    private func checkHealth(_ member: SwapMember, _ swap: SwapUnderWay) async throws(BackplaneError) {
        guard let component = member.component, component.instance.hasHealthCheck else { return }
        do throws(BackplaneError) {
            try await starter.limited("say that it is well", component.node, limit: swap.stepLimit) { watch async throws(BackplaneError) in
                try await component.instance.checkHealth(watch, HostThread.launch)
            }
        } catch {
            // A host that stops gives the question up: that says nothing of the component.
            if isStopped { return }
            throw BackplaneError(error.code, "\(member.name) is not well: \(error.message)", at: component.node.location, causes: [error])
        }
    }

    /// What was asked of a component so far, and how often it failed since the instance that serves came up.
    func counts(_ member: SwapMember) -> CallCounts {
        CallCounts(calls: member.gate.callsBegun - member.gate.callsInFlight, errors: member.component?.failures ?? 0)
    }

    /// The old code takes the newer state back, to a new instance; where that cannot be, the old instance goes on from where it was.
    func restore(_ member: SwapMember, _ swap: SwapUnderWay) async {
        do throws(BackplaneError) {
            try await restoreState(member, swap)
            if let restored = member.restored?.component { letIn(restored, swap) }
        } catch {
            swap.report.warnings.append(
                "what \(member.name) has changed in its state since the swap is lost, it goes on with the state before: \(error.message)")
            if let (node, component) = member.restored { retire(component, node, of: member.oldPlugin ?? member.newPlugin, [], suspending: false) }
            member.restored = nil
            await resume(member, swap)
        }
    }

    private func restoreState(_ member: SwapMember, _ swap: SwapUnderWay) async throws(BackplaneError) {
        guard let component = member.component, let old = member.old, let oldComponent = member.oldComponent else { return }
        let back = StateTransfer(from: member.new.node.entry.component.state, to: oldComponent.node.entry.component.state)
        guard case .carried(_, let version, _) = back else {
            if case .impossible(let reason, _) = back { throw BackplaneError(.stateIncompatible, reason) }
            throw BackplaneError(.stateIncompatible, "the new code keeps no state")
        }
        let bytes = try await exportState(of: component, as: version, swap.stepLimit)
        let live = makeNode(old.node, gate: member.gate), number = try numbers.take(for: old.node)
        live.number = number
        admit(live)
        swap.returning.insert(number)
        // Those that are back already let it in as well.
        for other in swap.gated { other.gate.letIn(swap.returning) }
        let type = oldComponent.type
        let wires = old.node.wires.compactMap { wire -> ComponentStarter.Connection? in
            guard let provider = swap.provider(afterReturn: wire.provider), let end = type.consumerEnd(ofWire: wire.label) else { return nil }
            return connections.connect(live, wire.label, end, to: provider, isLater: true)
        }
        do throws(BackplaneError) {
            let restored = try await starter.make(
                old.node, type, number: number, gate: member.gate, resources: swap.before.resources(of: old.node), wires, finder(for: live, type),
                limit: swap.stepLimit)
            member.restored = (live, restored)
            try await importState(bytes, as: version, to: restored, swap.stepLimit)
            try await starter.activate(restored, limit: swap.stepLimit)
        } catch {
            swap.returning.remove(number)
            if member.restored == nil { giveBack(live) }
            throw error
        }
    }

    /// Wires lead to the old generation again.
    func flipBack(_ swap: SwapUnderWay) async {
        swap.isTakenBack = true
        await stopLateStarters(swap)
        var nodes = swap.nodes
        var pairs: [(old: LiveNode?, new: LiveNode)] = []
        for member in swap.members {
            guard let old = member.old, let place = member.plan.old else { continue }
            if let (node, component) = member.restored {
                node.state = .ready(component)
                dismiss(node)
                nodes[place] = node
                pairs.append((member.new, node))
                if let oldComponent = member.oldComponent, let plugin = member.oldPlugin {
                    retire(oldComponent, old, of: plugin, member.taken, suspending: false)
                }
            } else {
                pairs.append((member.new, old))
                dismiss(old)
            }
        }
        for member in swap.members where member.restored == nil && !member.plan.state.isCarried && member.new.node.entry.component.state != nil {
            swap.report.warnings.append("the state that \(member.name) had since the swap is lost: the old code cannot take it")
        }
        putInForce(swap.before, nodes)
        replaceStarted(pairs)
        started.removeAll { node in swap.members.contains { $0.new === node } }
        for member in swap.members {
            member.new.state = .stopped
            takeBack(member, leadingTo: member.restored?.component ?? member.oldComponent)
        }
    }

    /// Components of the rejected code that somebody looked up since it came into force: they go with it, and come up again from the old code.
    private func stopLateStarters(_ swap: SwapUnderWay) async {
        func late() -> [LiveNode] {
            nodes.filter { node in !swap.nodes.contains { $0 === node } && !swap.members.contains { $0.new === node } }
        }
        let leaving = late()
        for node in leaving { node.leaves = true }
        for node in leaving { _ = await node.startUnderWay?.value }
        swap.interrupted = leaving.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name)
        await stop(leaving.filter { $0.running != nil }, for: swap.before.plan)
    }
}

extension SwapUnderWay {
    /// Who is called, once the old generation is back, at a place in the plan before. Of one that was not up it is the new one, which
    /// then is no more: the wire is there, and says so until somebody has it come up again.
    fileprivate func provider(afterReturn place: Int) -> RunningComponent? {
        if let member = members.first(where: { $0.plan.old == place }) { return member.restored?.component ?? member.oldComponent }
        let location = before.plan.nodes[place].location
        return nodes[place].running ?? members.first { $0.old == nil && $0.new.node.location == location }?.component
    }
}

extension Probation {
    /// - Throws: when too many of the calls have failed.
    func judge(_ counts: CallCounts, _ name: String) throws(BackplaneError) {
        guard counts.calls >= minimumCalls, counts.errors > 0 else { return }
        let rate = Double(counts.errors) / Double(counts.calls)
        guard rate > errorRate else { return }
        throw BackplaneError(
            .componentFailed, "\(counts.errors) of \(counts.calls) calls of \(name) failed, \(percent(rate)), and \(percent(errorRate)) may")
    }

    private func percent(_ rate: Double) -> String { "\((rate * 1_000).rounded() / 10) %" }
}
