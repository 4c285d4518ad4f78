import Backplane
import BackplaneBoundary

/// The actions that undo a swap, and the one that completes it.
extension SwapTransaction {
    /// Connects wires to the old instances, as before the swap.
    func unflip() {
        lead(back: nodes, members.compactMap { member in member.old.map { (member.new, $0) } })
        for member in members { if let old = member.old { live.dismiss(old) } }
    }

    /// Reactivates the old generation.
    ///
    /// - Parameters:
    ///   - nodes: The nodes, keyed by their positions in the earlier plan.
    ///   - pairs: The nodes that return, each with the new node that it replaces.
    func lead(back nodes: [LiveNode], _ pairs: [(old: LiveNode?, new: LiveNode)]) {
        live.activate(before, nodes)
        live.remotes.rename(members.compactMap(\.renaming).map { ($0.to, $0.from) })
        live.replaceStarted(pairs)
        live.started.removeAll { node in members.contains { $0.new === node } }
        for member in members {
            member.new?.state = .stopped
            takeBack(member, leadingTo: member.restored ?? member.oldComponent)
        }
        ComponentStreams.interrupt(members.reversed().compactMap { $0.component?.streams }, .streamInterrupted)
    }

    /// Connects wires to the old instance again; calls to a component that had none are refused.
    private func takeBack(_ member: SwapMember, leadingTo component: RunningComponent?) {
        component?.streams.admit()
        if let component {
            member.taken.new.formUnion(lead(component, gated: member.plan.isGated))
            if !member.plan.isGated { beginTimers(of: component, continuing: member.component) }
        } else {
            member.component?.timers.hold()
            let node = member.node.node
            live.remotes.close(node)
            let isKnown = node.role != .manager || before.plan.managers[node.name] != nil
            member.taken.new.formUnion(
                member.gate.withdraw(
                    isKnown
                        ? BackplaneError(
                            .callRetired,
                            "\(member.name) was started from code that has been rolled back; look it up again")
                        : absence(of: node)))
        }
    }

    /// The numbers of the nodes that return during a rollback, which may call one another before the gates open.
    var returning: Set<UInt16> {
        Set(members.flatMap { [$0.old?.number, $0.returning?.number] }.compactMap(\.self))
    }

    /// Admits calls from other returning components, which are being activated, to a component whose gate is held.
    func letIn(_ component: RunningComponent) {
        guard gated.contains(where: { $0.gate === component.gate }) else { return }
        live.connections.lead(to: component)
        component.gate.letIn(returning)
    }

    /// Makes the old instance reacquire the resources that it released.
    func resume(_ member: SwapMember, in domain: isolated (any Actor)? = #isolation) async {
        guard let old = member.old, let component = member.oldComponent else { return }
        guard component.instance.isInStep else {
            await resume(component)
            return letIn(component)
        }
        // It has not returned from `suspend`, and steps never overlap: it is resumed once it has.
        old.isResumedLater = true
        Task {
            _ = domain
            await resumeLater(component)
            old.isResumedLater = false
            // The code that opens a held gate begins them.
            if old.running === component, !component.gate.isHeld { component.timers.begin() }
        }
    }

    private func resumeLater(_ component: RunningComponent) async {
        // Another change, or the end of the host, may stop it in the meantime.
        func isUp() -> Bool { !live.isStopped && live.nodes.contains { $0.running === component } }
        await live.waits { !component.instance.isInStep || !isUp() }
        if isUp() { await resume(component) }
    }

    private func resume(_ component: RunningComponent) async {
        component.streams.admit()
        do {
            try await starter.limited("be resumed", component.node, limit: stepLimit, canBeGivenUp: false) {
                watch async throws(BackplaneError) in
                try await component.instance.resume(watch)
            }
        } catch {
            live.log(
                .error, "did not resume after a failed swap; it may lack the resources that `activate` acquires",
                component, error)
        }
    }

    /// Opens the gates to the instances from before the swap.
    func release() {
        for member in gated where member.old != nil {
            member.taken.new.formUnion(member.gate.open().taken)
            // One that has not returned from `suspend` serves its timers once it is resumed.
            if member.old?.isResumedLater == false { member.oldComponent?.timers.begin() }
        }
    }

    /// Makes a new instance release the resources that it acquired.
    func deactivate(_ member: SwapMember) async {
        guard let component = member.component else { return }
        member.gate.closePassage(lettingAside: true)
        _ = await live.drained(live.options.stopLimit) { member.taken.new.allSatisfy { $0.callsInFlight == 0 } }
        do {
            if let cut = try await instances.suspend(component, stepLimit, canBeGivenUp: false) {
                report.warnings.append(cut)
            }
        } catch {
            live.log(.error, "did not release its resources after a failed swap", component, error)
        }
    }

    /// Retires a new instance.
    func discard(_ member: SwapMember) async {
        guard let node = member.new, let plugin = member.newPlugin else { return }
        guard let component = member.component else { return instances.giveBack(node) }
        // Other new instances may have begun calls to it while they were created.
        if member.old == nil { takeBack(member, leadingTo: nil) }
        let state = machine.states.new[member.index]
        // Nobody has asked for the graphs of code that has served no caller.
        if served == nil { starter.graphs.cancelAll(of: component.handle) }
        noteGraphs(of: member, leftIn: component)
        // An activation that outlasts its limit acquires resources anyway.
        let takesLater = state.wasToBeActive && component.instance.isInStep
        await retirements.add(
            component, node, of: plugin, member.taken.new, suspending: state == .active || takesLater)
    }

    /// Retires the old instances; those that were not gated are suspended once their calls have ended.
    ///
    /// Instances without a successor are stopped.
    func retire() async {
        for member in members where member.new != nil {
            guard let old = member.old, let component = member.oldComponent, let plugin = member.oldPlugin else {
                continue
            }
            noteGraphs(of: member, leftIn: component)
            await retirements.add(
                component, old, of: plugin, member.taken.old, suspending: machine.states.old[member.index] != .suspended
            )
        }
        if isOfAnotherManifest { closeAbsent() }
        await stopRemoved()
        for component in members.compactMap({ $0.new?.running }) { instances.keepData(of: component) }
        await instances.keepFormerData(in: after.plan)
        for node in members.compactMap(\.new) { live.dismiss(node) }
        live.giveRoomBack(of: outgoing)
        for plugin in incoming { live.generations.commit(plugin) }
        warnOfGenerations()
    }

    /// Reports the graphs that an instance without callers finishes.
    private func noteGraphs(of member: SwapMember, leftIn component: RunningComponent) {
        if let place = member.placeInReport { report.components[place].graphs = graphs(of: component) }
    }

    private func stopRemoved() async {
        let removed = members.filter { $0.new == nil }.compactMap(\.old)
        guard !removed.isEmpty else { return }
        for node in removed {
            report.warnings += graphs(of: node.running).map {
                "the graph `\($0)` of \(node.node.name) was cancelled, because the manifest no longer has its component"
            }
        }
        await surroundings.shutdown.stop(removed, of: before.plan, nodes)
        for node in removed { live.dismiss(node) }
    }

    /// Refuses calls to managers that were not running and that the manifest no longer has.
    private func closeAbsent() {
        for node in nodes where node.node.role == .manager && node.running == nil {
            let name = node.node.name
            guard after.plan.managers[name] == nil, !live.nodes.contains(where: { $0.gate === node.gate }) else {
                continue
            }
            live.remotes.close(node.node)
            node.gate.refuse(absence(of: node.node))
        }
    }

    private func warnOfGenerations() {
        let log = live.options.log
        guard log.isEnabled(.warning), live.generations.takeWarning() else { return }
        log.write(
            LogRecord(
                level: .warning, source: "host",
                message:
                    "\(live.generations.retired) inactive generations of plugins are in memory, because Swift's runtime cannot unload a library; restart the host when convenient",
                metadata: [:]))
    }
}
