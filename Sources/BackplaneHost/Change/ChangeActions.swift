import Backplane

/// The actions of a change until callers are served by the new code.
extension Change {
    /// Creates the new instance, wired to the active components.
    func create(_ member: ChangeMember) async throws(BackplaneError) {
        let attempt = starter.nextAttempt()
        for place in plan.awaited { _ = try await starter.start(live.nodes[place], during: attempt).get() }
        try live.requireRunning()
        guard let node = member.new else { return }
        // A component without a predecessor is called only once it is active.
        if member.plan.isGated, member.old == nil { member.gate.hold() }
        try instances.number(node)
        live.admit(node)
        member.component = try await instances.make(
            node, of: after.componentClass(of: node.node), in: after, limit: stepLimit, wiredTo: provider)
        machine.finish()
        try live.requireRunning()
    }

    /// Returns the component at a position in the next plan; until the flip, a member's old instance, if it has one.
    private func provider(at place: Int) -> RunningComponent? {
        if let member = members.first(where: { $0.plan.new == place }) {
            return member.oldComponent ?? member.component
        }
        return plan.stays[place].flatMap { live.nodes[$0].running }
    }

    /// Holds calls, except those that return through a component that is being drained.
    func hold() {
        if machine.isTakingBack { beginReturn() }
        let passage = Set(gated.compactMap { activeNode($0)?.number })
        for member in gated where activeNode(member) != nil { member.gate.hold(passage: passage) }
        for member in gated { activeNode(member)?.callable?.timers.hold() }
    }

    func drain() async throws(BackplaneError) {
        var limit = drainPolicy.limit
        // A rollback cannot be postponed, and waiting preserves the changes that calls still make.
        if machine.isTakingBack, case .retry = drainPolicy.fallback { limit = max(limit, stepLimit) }
        var isDrained = await drained(limit)
        if !isDrained, drainPolicy.fallback == .cancel {
            let calls = stillCalled(gated, limit)
            let cancellations = gated.compactMap { activeNode($0)?.callable }.map { component in
                component.timers.cancelBodies()
                instances.graphs.cancelAll(of: component.handle)
                return component.calls.cancelAll()
            }
            isDrained = await drained(limit)
            // The cancellations must not end calls that begin when the gates open again, and a later step may fail,
            // too.
            _ = await live.drained(limit) { cancellations.filter { !$0.withdraw() }.isEmpty }
            if isDrained { report.warnings.append("cancelled: \(calls.message)") }
        }
        try live.requireRunning()
        guard isDrained else {
            var error = stillCalled(gated, limit)
            error.code = .swapHeld
            throw error
        }
        outlasting = OutlastingCalls()
    }

    /// Returns whether all calls of gated components, and all graphs of these components, have ended within a limit.
    private func drained(_ limit: Duration) async -> Bool {
        await live.drained(limit) {
            gated.allSatisfy { member in
                guard member.gate.callsInFlight == 0, member.gate.callsPassing == 0 else { return false }
                guard let component = activeNode(member)?.callable else { return true }
                return component.calls.callsInFlight == 0 && instances.graphs.count(of: component.handle) == 0
            }
        }
    }

    func graphs(of component: RunningComponent?) -> [String] {
        component.map { instances.graphs.running(of: $0.handle).map(\.name) } ?? []
    }

    /// Returns the node whose instance is currently called: the old one, or after the flip the new one.
    func activeNode(_ member: ChangeMember) -> LiveNode? {
        switch machine.states.wires {
        case .old, .oldAgain: member.old
        case .newOnceOpen, .new: member.new
        }
    }

    /// Returns the error that names the graphs and the calls in flight, their callers and, in the encoded lane, their
    /// methods.
    private func stillCalled(_ members: [ChangeMember], _ limit: Duration) -> BackplaneError {
        let graphs = members.flatMap { member in
            self.graphs(of: activeNode(member)?.callable).map { "the graph `\($0)` of \(member.name)" }
        }
        let calls = members.flatMap { member in
            live.wires.callers(at: member.gate).map { "\($0) to \(member.name)" }
        }
        let methods = members.compactMap { member -> String? in
            let names = activeNode(member)?.callable?.calls.methodsInFlight ?? []
            return names.isEmpty ? nil : names.map { "`\($0)`" }.joined(separator: ", ") + " of \(member.name)"
        }
        let timers = members.flatMap { member in
            (activeNode(member)?.callable?.timers.namesInFlight ?? []).map { "timer `\($0)` of \(member.name)" }
        }
        let inside = methods.isEmpty ? "" : " (in \(methods.joined(separator: "; ")))"
        let subject = graphs.isEmpty ? "calls" : calls.isEmpty && timers.isEmpty ? "graphs" : "calls and graphs"
        return BackplaneError(
            .callDeadline,
            "\(subject) have not ended within \(limit): \((calls + timers).joined(separator: "; "))\(inside)"
                + (calls.isEmpty && timers.isEmpty || graphs.isEmpty ? "" : "; ") + graphs.joined(separator: "; "),
            at: (members.first ?? self.members.first)?.node.node.location)
    }

    /// Makes the old instance release exclusive resources and become quiescent.
    func suspend(_ member: ChangeMember) async throws(BackplaneError) {
        guard let old = member.old, let component = member.oldComponent else { return }
        // Instances suspended earlier may have called back.
        guard await live.drained(stepLimit, { member.gate.callsPassing == 0 }) else {
            throw stillCalled([member], stepLimit)
        }
        member.gate.closePassage(lettingAside: true)
        // A failed change may have left the instance in the middle of a step, and a call may have come before the
        // passage was closed.
        let isStill = await live.drained(stepLimit) {
            old.isBetweenSteps(component) && member.gate.callsPassing == 0
        }
        try live.requireRunning()
        guard member.gate.callsPassing == 0 else { throw stillCalled([member], stepLimit) }
        guard isStill else {
            throw BackplaneError(
                .callDeadline, "\(member.name) has not returned from a step of an earlier swap within \(stepLimit)",
                at: component.node.location)
        }
        machine.begin()
        if let cut = try await instances.suspend(component, stepLimit) { report.warnings.append(cut) }
    }

    /// Connects the wires to new instances: to gated instances once their gates open, and to all others now.
    ///
    /// Once the new code serves callers, a lookup starts a component that was not running from that code.
    func flip() {
        var placed: [Int: LiveNode] = [:]
        for member in members {
            if let place = member.plan.new { placed[place] = member.new }
            if let old = member.old { live.admit(old) }
            if let component = member.component { member.new?.state = .ready(component) }
            member.baseline = counts(member)
        }
        live.activate(after, keeping: plan.kept, placing: placed)
        live.remotes.rename(members.compactMap(\.renaming))
        live.replaceStarted(members.compactMap { member in member.new.map { (member.old, $0) } })
        for member in members {
            guard member.new != nil else {
                withdraw(member)
                continue
            }
            member.taken.old.formUnion(lead(member.component, gated: member.plan.isGated))
            if !member.plan.isGated { beginTimers(of: member.component, continuing: member.oldComponent) }
        }
        // Streams that are opened from now on belong to the new code.
        ComponentStreams.interrupt(members.reversed().compactMap { $0.oldComponent?.streams }, .streamInterrupted)
        if options.probation != nil {
            for plugin in incoming { live.generations.set(.onProbation, of: plugin) }
        }
        if gated.isEmpty { serve() }
    }

    /// Refuses calls to a removed component, which stops when the change is committed.
    private func withdraw(_ member: ChangeMember) {
        guard let old = member.old else { return }
        member.oldComponent?.timers.hold()
        live.remotes.close(old.node)
        member.gate.refuse(absence(of: old.node), passage: old.passage)
    }

    /// Returns the error for calls to a component that is not in the active manifest.
    func absence(of node: Plan.Node) -> BackplaneError {
        node.role == .manager
            ? BackplaneError(.unknownManager, "the active manifest no longer has a manager `\(node.name)`")
            : BackplaneError(.callRetired, "the active manifest no longer has \(node.name), which was called")
    }

    /// Connects the wires of a component to an instance.
    ///
    /// - Returns: The bindings that this removes from slots immediately.
    func lead(_ component: RunningComponent?, gated: Bool) -> Set<Binding> {
        guard let component else { return [] }
        if gated {
            let (refused, early) = live.wires.lead(to: component)
            live.remotes.open(component.node, but: refused)
            return early
        }
        let (refused, opening) = live.wires.open(component)
        live.remotes.open(component.node, but: refused)
        return opening.taken
    }

    func activate(_ member: ChangeMember) async throws(BackplaneError) {
        guard let component = member.component else { return }
        try await instances.activate(component, limit: stepLimit)
        live.log(.debug, "started", component)
        machine.finish()
        try live.requireRunning()
        // Members that are activated later may already call this one.
        if member.plan.isGated { member.gate.letIn(Set(members.compactMap(\.new?.number))) }
    }

    func open() {
        // Nothing stands behind the gates of components that are removed, or added again.
        for member in gated where activeNode(member) != nil {
            let opening = member.gate.open()
            if machine.states.wires == .oldAgain {
                member.taken.new.formUnion(opening.taken)
            } else {
                member.taken.old.formUnion(opening.taken)
            }
            report.callsHeld += opening.callsHeld
            report.longestWait = max(report.longestWait, opening.longestWait)
            beginTimers(of: member)
        }
        serve()
        // Nothing waits for the release of the exported state, which may take a while.
        dropStates()
    }

    /// Records that the new code serves callers, and resumes the starts that waited for it.
    private func serve() {
        guard served == nil else { return }
        served = clock.moment
        handover.end()
    }
}

extension Change {
    /// Connects wires to the old instances, as before the change.
    func unflip() {
        handover.beginAgain()
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
    private func takeBack(_ member: ChangeMember, leadingTo component: RunningComponent?) {
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

    /// Lets components that return look up the earlier managers. Ungated components have never stopped.
    func beginReturn() {
        handover.earlier = before.plan
        for component in members.filter({ !$0.plan.isGated }).compactMap(\.oldComponent) {
            component.streams.admit()
            noteReturn(of: component)
        }
    }

    /// Makes a component that has returned behind a held gate available to calls and lookups of others that return.
    ///
    /// The others are still being activated.
    func readmit(_ component: RunningComponent) {
        guard gated.contains(where: { $0.gate === component.gate }) else { return }
        live.wires.lead(to: component)
        component.gate.letIn(returning)
        noteReturn(of: component)
    }

    private func noteReturn(of component: RunningComponent) {
        if component.node.role == .manager { handover.returned[component.name] = component }
    }

    /// Makes the old instance reacquire the resources that it released.
    func resume(_ member: ChangeMember, in domain: isolated (any Actor)? = #isolation) async {
        guard let old = member.old, let component = member.oldComponent else { return }
        guard component.instance.isInStep else {
            await resume(component)
            return readmit(component)
        }
        // Steps never overlap: the instance is resumed once it has returned from `suspend`.
        old.isResumedLater = true
        Task {
            _ = domain
            await resumeLater(component)
            old.isResumedLater = false
            // The timers behind a held gate are started by the code that opens it.
            if old.running === component, !component.gate.isHeld { component.timers.begin() }
        }
    }

    private func resumeLater(_ component: RunningComponent) async {
        // Another change, or the end of the host, may stop the component in the meantime.
        func isUp() -> Bool { !live.isStopped && live.nodes.contains { $0.running === component } }
        await live.waits { !component.instance.isInStep || !isUp() }
        if isUp() { await resume(component) }
    }

    private func resume(_ component: RunningComponent) async {
        component.streams.admit()
        do {
            try await instances.limited(
                "be resumed", component.node, limit: stepLimit, canBeGivenUp: false, step: component.instance.resume)
        } catch {
            live.log(
                .error, "did not resume after a failed swap; it may lack the resources that `activate` acquires",
                component, error)
        }
    }

    /// Opens the gates to the instances from before the change.
    func release() {
        for member in gated where member.old != nil {
            member.taken.new.formUnion(member.gate.open().taken)
            // An instance that has not returned from `suspend` serves its timers once it is resumed.
            if member.old?.isResumedLater == false { member.oldComponent?.timers.begin() }
        }
    }

    /// Makes a new instance release the resources that it acquired.
    func deactivate(_ member: ChangeMember) async {
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

    func discard(_ member: ChangeMember) async {
        guard let node = member.new else { return }
        guard let component = member.component else { return instances.giveBack(node) }
        // Other new instances may have begun calls to it while they were created.
        if member.old == nil { takeBack(member, leadingTo: nil) }
        let state = machine.states.new[member.index]
        // No caller has requested the graphs of code that has not served any caller.
        if served == nil { instances.graphs.cancelAll(of: component.handle) }
        report.components[member.index].graphs = graphs(of: component)
        // An activation that outlasts its limit acquires resources anyway.
        let takesLater = state.wasToBeActive && component.instance.isInStep
        await stopper.retire(
            component, node, member.taken.new, suspending: state == .active || takesLater,
            hasServed: state == .active || state == .deactivated)
    }

    /// Retires the old instances; those that were not gated are suspended once their calls have ended.
    ///
    /// Instances without a successor are stopped.
    func retire() async {
        for member in members where member.new != nil {
            guard let old = member.old, let component = member.oldComponent else { continue }
            // An instance without callers finishes its graphs.
            report.components[member.index].graphs = graphs(of: component)
            await stopper.retire(
                component, old, member.taken.old, suspending: machine.states.old[member.index] != .suspended)
        }
        if isOfAnotherManifest { closeAbsent() }
        await stopRemoved()
        for component in members.compactMap({ $0.new?.running }) { instances.data.keep(of: component) }
        await instances.data.keepFormer(in: after.plan)
        for node in members.compactMap(\.new) { live.dismiss(node) }
        live.giveRoomBack(of: outgoing)
        for plugin in incoming { live.generations.commit(plugin) }
        warnOfGenerations()
    }

    private func stopRemoved() async {
        let removed = members.filter { $0.new == nil }.compactMap(\.old)
        guard !removed.isEmpty else { return }
        for node in removed {
            report.warnings += graphs(of: node.running).map {
                "the graph `\($0)` of \(node.node.name) was cancelled, because the manifest no longer has its component"
            }
        }
        await stopper.stop(removed, of: before.plan, nodes)
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
        guard live.options.log.isEnabled(.warning), live.generations.takeWarning() else { return }
        live.options.log.report(
            .warning,
            "\(live.generations.retired) inactive generations of plugins are in memory, because Swift's runtime cannot unload a library; restart the host when convenient"
        )
    }
}
