import Backplane

/// The probation of a generation after it has reached callers, and the rollback if it fails.
extension Change {
    /// Observes the new generation until its probation ends, or another change is requested.
    ///
    /// - Throws: The reason why the new generation failed its probation.
    func watch() async throws(BackplaneError) {
        guard let probation = options.probation else { return }
        turns.letLook()
        reportProgress?(.onProbation(report.plugins))
        let end = clock.moment + probation.duration, poll = Duration.milliseconds(20)
        var nextHealth = clock.moment, failure: BackplaneError?
        while clock.moment < end, turns.onlyLookersWait, !live.isStopped {
            if clock.moment >= nextHealth {
                for member in members { try await checkHealth(member) }
                // Without a pause, nothing else would run in the host's domain until the probation ends.
                nextHealth = clock.moment + max(probation.healthInterval, poll)
            }
            // By polling, because the end of a native call signals nothing. The interval hardly delays a rollback.
            _ = await clock.waits(until: min(end, nextHealth), every: poll) {
                // A generation whose probation ends because of another change is not judged.
                guard turns.onlyLookersWait, !live.isStopped else { return true }
                for member in members where failure == nil {
                    failure = probation.failure(of: member.name, counts(member) - member.baseline)
                }
                return failure != nil
            }
            if let failure { throw failure }
        }
    }

    private func checkHealth(_ member: ChangeMember) async throws(BackplaneError) {
        guard let component = member.component, component.instance.hasHealthCheck else { return }
        do throws(BackplaneError) {
            try await instances.limited(
                "report its health", component.node, limit: stepLimit, step: component.instance.checkHealth)
        } catch {
            // A stopping host abandons the health check, so its result says nothing about the component.
            if live.isStopped { return }
            throw BackplaneError(
                error.code, "\(member.name) is unhealthy: \(error.message)", at: component.node.location,
                causes: [error]
            )
        }
    }

    /// Returns the completed calls of a component so far, and the failed calls of its new instance.
    func counts(_ member: ChangeMember) -> CallCounts {
        CallCounts(calls: member.gate.callsBegun - member.gate.callsInFlight, errors: member.component?.failures ?? 0)
    }

    /// Transfers the newer state back to a new instance of the old code.
    ///
    /// - Throws: The reason why that failed; the old instance then continues with its own state.
    func restore(_ member: ChangeMember) async throws(BackplaneError) {
        do throws(BackplaneError) {
            try await restoreState(member)
            if let restored = member.restored { readmit(restored) }
        } catch {
            if let node = member.returning {
                if let component = member.restored {
                    instances.graphs.cancelAll(of: component.handle)
                    await stopper.retire(component, node, [], suspending: false, hasServed: false)
                } else {
                    instances.giveBack(node)
                }
            }
            (member.returning, member.restored) = (nil, nil)
            throw error
        }
    }

    private func restoreState(_ member: ChangeMember) async throws(BackplaneError) {
        guard let component = member.component, let old = member.old, let oldComponent = member.oldComponent else {
            return
        }
        let back = StateTransfer(
            from: member.node.node.entry.component.state, to: oldComponent.node.entry.component.state)
        guard case .carried(_, let version, _) = back else {
            if case .impossible(let reason, _) = back { throw BackplaneError(.stateIncompatible, reason) }
            throw BackplaneError(.stateIncompatible, "the new code has no state")
        }
        let lane = lane(of: back, from: component.type, to: oldComponent.type)
        let state = try await exportState(of: component, as: version, by: lane)
        let node = live.makeNode(old.node, gate: member.gate)
        try instances.number(node)
        live.admit(node)
        member.returning = node
        // Components that have already returned must admit calls from this one, too.
        for other in gated { other.gate.letIn(returning) }
        let restored = try await instances.make(
            node, of: oldComponent.type, in: before, limit: stepLimit, wiredTo: provider(afterReturn:))
        member.restored = restored
        try await importState(state, as: version, to: restored)
        try await instances.activate(restored, limit: stepLimit)
        live.log(.debug, "started", restored)
    }

    /// Returns the component at a position in the earlier plan, as it will be after the rollback.
    ///
    /// For a component that was not running, this is the new one. It then ends, and calls fail until it is started
    /// again.
    private func provider(afterReturn place: Int) -> RunningComponent? {
        if let member = members.first(where: { $0.plan.old == place }) { return member.restored ?? member.oldComponent }
        return nodes[place].running ?? members.first { $0.old == nil && $0.plan.former == place }?.component
    }

    /// Connects wires to the old generation again.
    func flipBack() async {
        handover.beginAgain()
        await stopLateStarters()
        var nodes = nodes
        var pairs: [(old: LiveNode?, new: LiveNode)] = []
        for member in members {
            guard let old = member.old, let place = member.plan.old else { continue }
            if let node = member.returning, let component = member.restored {
                node.state = .ready(component)
                live.dismiss(node)
                nodes[place] = node
                pairs.append((member.new, node))
                if let oldComponent = member.oldComponent {
                    await stopper.retire(oldComponent, old, member.taken.old, suspending: false)
                }
            } else {
                pairs.append((member.new, old))
                live.dismiss(old)
            }
        }
        for member in members
        where member.restored == nil && !member.plan.state.isCarried && member.new?.node.entry.component.state != nil {
            report.warnings.append(
                "the state of \(member.name) since the swap is lost: the old code cannot read it")
        }
        lead(back: nodes, pairs)
    }

    /// Stops components of the rejected code that have been looked up since the flip; they restart from the old code.
    private func stopLateStarters() async {
        let leaving = live.nodes.filter { node in
            !nodes.contains { $0 === node } && !members.contains { $0.new === node }
        }
        while let start = leaving.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        for node in leaving where node.running == nil { node.state = .stopped }
        let late = leaving.filter { $0.running != nil }
        interrupted = late.filter { $0.node.role == .manager }.map(\.node.name)
        await stopper.stop(late, of: after.plan, live.nodes) { [self] node in
            if node.node.role == .manager, before.plan.managers[node.node.name] == nil {
                node.gate.refuse(absence(of: node.node), passage: node.passage)
            } else {
                node.gate.hold(passage: node.passage)
            }
        }
    }
}

extension Probation {
    /// Returns an error if too many of a component's calls since the flip have failed.
    func failure(of name: String, _ counts: CallCounts) -> BackplaneError? {
        guard counts.calls >= minimumCalls, counts.errors > 0 else { return nil }
        let rate = Double(counts.errors) / Double(counts.calls)
        guard rate > errorRate else { return nil }
        return BackplaneError(
            .componentFailed,
            "\(counts.errors) of \(counts.calls) calls of \(name) failed, \(percent(rate)); the limit is \(percent(errorRate))"
        )
    }

    private func percent(_ rate: Double) -> String { "\((rate * 1_000).rounded() / 10) %" }
}
