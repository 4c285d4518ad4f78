import Backplane
import BackplaneBoundary

/// What a swap does when it does not come about, or is over.
extension Coordinator {
    /// Wires lead to the old instances, as before; unless they never led elsewhere.
    func unflip(_ swap: SwapUnderWay) {
        guard swap.isFlipped else { return }
        swap.isFlipped = false
        putInForce(swap.before, swap.nodes)
        replaceStarted(swap.members.compactMap { member in member.old.map { (member.new, $0) } })
        started.removeAll { node in swap.members.contains { $0.new === node } }
        for member in swap.members {
            member.new.state = .stopped
            if let old = member.old { dismiss(old) }
            takeBack(member, leadingTo: member.oldComponent)
        }
    }

    /// Leads wires back to the old instance; those to a component that had none go nowhere.
    func takeBack(_ member: SwapMember, leadingTo component: RunningComponent?) {
        if let component {
            member.takenBack.formUnion(lead(component, gated: member.plan.isGated))
        } else {
            remotes.close(member.new.node)
            member.takenBack.formUnion(
                member.gate.withdraw(BackplaneError(.callRetired, "\(member.name) came up from code that was taken back; look it up again")))
        }
    }

    /// Others that come back, and are activated, may call one that has come back, though its gate is held.
    func letIn(_ component: RunningComponent, _ swap: SwapUnderWay) {
        guard swap.gated.contains(where: { $0.gate === component.gate }) else { return }
        connections.lead(to: component)
        component.gate.letIn(swap.returning)
    }

    /// The old instance takes again what it gave up.
    func resume(_ member: SwapMember, _ swap: SwapUnderWay) async {
        guard let component = member.oldComponent, member.isOldSuspended else { return }
        member.isOldSuspended = false
        guard component.instance.isInStep else {
            await resume(component, swap.stepLimit)
            return letIn(component, swap)
        }
        // It has not come back from `suspend`, and steps never overlap: once it has, it is resumed.
        let limit = swap.stepLimit
        resumptions.insert(component.handle)
        Task {
            await resumeLater(component, limit)
            resumptions.remove(component.handle)
        }
    }

    private func resumeLater(_ component: RunningComponent, _ limit: Duration) async {
        // A change, or the end of the host, may take it meanwhile.
        func isUp() -> Bool { !isStopped && nodes.contains { $0.running === component } }
        while component.instance.isInStep, isUp() { await timer.pause(.milliseconds(20)) }
        if isUp() { await resume(component, limit) }
    }

    /// Is nothing that was asked of it before still under way?
    func isBetweenSteps(_ component: RunningComponent) -> Bool {
        !component.instance.isInStep && !resumptions.contains(component.handle)
    }

    private func resume(_ component: RunningComponent, _ limit: Duration) async {
        do {
            try await starter.limited("be resumed", component.node, limit: limit, canBeGivenUp: false) { watch async throws(BackplaneError) in
                try await component.instance.resume(watch, HostThread.launch)
            }
        } catch {
            log(.error, "did not resume after a swap that failed; it may miss what `activate` takes", component, error)
        }
    }

    /// Calls go on as they would have.
    func release(_ swap: SwapUnderWay) {
        for member in swap.gated where member.old != nil {
            member.takenBack.formUnion(member.gate.open().taken)
        }
    }

    /// A new instance gives up what it took.
    func deactivate(_ member: SwapMember, _ swap: SwapUnderWay) async {
        guard let component = member.component, member.isActive else { return }
        member.isActive = false
        member.gate.closePassage(lettingAside: true)
        _ = await drained(options.stopLimit) { member.takenBack.allSatisfy { $0.callsInFlight == 0 } }
        do {
            if let cut = try await suspend(component, swap.stepLimit, canBeGivenUp: false) { swap.report.warnings.append(cut) }
        } catch {
            log(.error, "did not give up what it took, after a swap that failed", component, error)
        }
    }

    /// Gives a new instance up.
    func discard(_ member: SwapMember, _ swap: SwapUnderWay) async {
        guard let component = member.component else { return giveBack(member.new) }
        // Others that are new may have begun calls to it while they were made.
        if member.old == nil { takeBack(member, leadingTo: nil) }
        // One that is activated later than it was waited for takes what it takes all the same.
        let takesLater = member.wasToBeActive && component.instance.isInStep
        retire(component, member.new, of: member.newPlugin, member.takenBack, suspending: member.isActive || takesLater)
    }

    func giveBack(_ node: LiveNode) {
        end(node)
        dismiss(node)
    }

    /// Gives the old instances up: those that callers did not wait for are suspended once their calls have ended.
    func retire(_ swap: SwapUnderWay) {
        for member in swap.members {
            guard let old = member.old, let component = member.oldComponent, let plugin = member.oldPlugin else { continue }
            retire(component, old, of: plugin, member.taken, suspending: !member.isOldSuspended)
        }
        for member in swap.members { dismiss(member.new) }
        dropRemainders(of: swap.replacements.map { swap.before.plugins[$0.place] })
        for replacement in swap.replacements { generations.commit(replacement.plugin) }
        warnOfGenerations()
    }

    /// Ends an instance that nobody calls any more, as soon as the calls in it have ended.
    func retire(
        _ component: RunningComponent, _ node: LiveNode, of plugin: LoadedPlugin, _ bindings: Set<Binding>, suspending: Bool
    ) {
        node.state = .stopped
        component.gate.disown(bindings)
        // What it calls itself it may go on to call until it has ended.
        admit(node)
        retirements.add(component, of: plugin, bindings) { order in
            Task {
                await finish(component, node, bindings, suspending: suspending)
                retirements.remove(order)
            }
        }
    }

    private func finish(_ component: RunningComponent, _ node: LiveNode, _ bindings: Set<Binding>, suspending: Bool) async {
        let isIdle = { bindings.allSatisfy { $0.callsInFlight == 0 } && component.calls.callsInFlight == 0 && !component.instance.isInStep }
        if !Drain.looks(isIdle) {
            // Calls may take as long as they like: nobody waits for them.
            while !isIdle(), !isStopped { await timer.pause(.milliseconds(5)) }
            if isStopped { _ = await timer.waits(options.stopLimit, for: isIdle) }
        }
        component.calls.close()
        guard isIdle() else {
            log(.error, component.instance.isInStep ? "left as it is: a step of it has not ended" : "left as it is: calls into it have not ended", component)
            await starter.retire(component.handle, releasing: nil)
            return giveBack(node)
        }
        if suspending {
            do {
                if let cut = try await suspend(component, options.stopLimit, canBeGivenUp: false) { log(.warning, cut, component) }
            } catch {
                log(.error, "did not give up what it took, after it was swapped", component, error)
            }
        }
        giveUpLookUps(of: node)
        component.gate.note(failures: component.failures)
        await starter.retire(component.handle, releasing: component.instance)
        giveBack(node)
    }

    /// Waits for what swaps left behind; the host stops.
    func endRetirements() async {
        for retirement in retirements.all { await retirement.end.value }
    }

    /// What is not in force needs no symbols, which may take more memory than its code.
    func dropRemainders(of plugins: [LoadedPlugin]) {
        guard let folder = loadFolder else { return }
        for copy in plugins.compactMap(\.copy) { folder.dropRemainder(of: copy) }
    }

    private func warnOfGenerations() {
        let retired = generations.retired
        guard retired > 0, retired.isMultiple(of: GenerationTable.warned), options.log.isEnabled(.warning) else { return }
        options.log.write(
            LogRecord(
                level: .warning, source: "host",
                message: "\(retired) generations of plugins are in memory that are not in force, since Swift's runtime cannot forget a library; restart the host when it suits",
                metadata: [:]))
    }
}
