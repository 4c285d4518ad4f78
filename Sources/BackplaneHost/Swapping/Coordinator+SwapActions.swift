import Backplane
import BackplaneBoundary

/// What a swap does until callers are served by the new code.
extension Coordinator {
    /// Makes the new instance, wired to what is up now.
    func create(_ member: SwapMember, _ swap: SwapUnderWay) async throws(BackplaneError) {
        lastAttempt += 1
        for place in swap.plan.awaited { _ = try await start(nodes[place], during: lastAttempt).get() }
        try requireRunning()
        let live = member.new, node = live.node, type = swap.after.componentClass(of: node), number = try numbers.take(for: node)
        live.number = number
        admit(live)
        let wires = node.wires.compactMap { wire -> ComponentStarter.Connection? in
            guard let provider = swap.provider(at: wire.provider, nodes), let end = type.consumerEnd(ofWire: wire.label) else { return nil }
            return connections.connect(live, wire.label, end, to: provider, isLater: swap.isMember(wire.provider))
        }
        member.component = try await starter.make(
            node, type, number: number, gate: member.gate, resources: swap.after.resources(of: node), wires, finder(for: live, type), limit: swap.stepLimit)
        try requireRunning()
    }

    /// From here on calls wait. Those that come back through a component which is waited for go on.
    func hold(_ swap: SwapUnderWay) {
        let passage = Set(swap.gated.compactMap { swap.nodeInForce($0)?.number })
        for member in swap.gated where swap.nodeInForce(member) != nil { member.gate.hold(passage: passage) }
    }

    func drain(_ swap: SwapUnderWay) async throws(BackplaneError) {
        let limit = Duration.seconds(swap.options.drainLimit)
        let isDrained = await drained(limit) {
            swap.gated.allSatisfy { $0.gate.callsInFlight == 0 && $0.gate.callsPassing == 0 && swap.nodeInForce($0)?.callable?.calls.callsInFlight ?? 0 == 0 }
        }
        try requireRunning()
        guard isDrained else { throw stillCalled(swap.gated, swap, limit) }
    }

    /// - Throws: who calls, and what.
    private func stillCalled(_ members: [SwapMember], _ swap: SwapUnderWay, _ limit: Duration) -> BackplaneError {
        let calls = members.flatMap { member in connections.callers(at: member.gate).map { "\($0) to \(member.name)" } }
        let methods = members.compactMap { member -> String? in
            let names = swap.nodeInForce(member)?.callable?.calls.methodsInFlight ?? []
            return names.isEmpty ? nil : names.map { "`\($0)`" }.joined(separator: ", ") + " of \(member.name)"
        }
        let inside = methods.isEmpty ? "" : " (in \(methods.joined(separator: "; ")))"
        return BackplaneError(
            .callDeadline, "calls have not ended within \(limit): \(calls.joined(separator: "; "))\(inside)", at: members.first?.new.node.location)
    }

    /// The old instance gives up what is exclusive, and is still from then on.
    func suspend(_ member: SwapMember, _ swap: SwapUnderWay) async throws(BackplaneError) {
        guard let component = member.oldComponent else { return }
        // What was suspended before it may have come back to it.
        let limit = Duration.seconds(swap.options.drainLimit)
        guard await drained(limit, { member.gate.callsPassing == 0 }) else { throw stillCalled([member], swap, limit) }
        member.gate.closePassage(lettingAside: true)
        // A swap that failed may have left it in a step.
        let isStill = await drained(swap.stepLimit) { isBetweenSteps(component) }
        try requireRunning()
        guard isStill else {
            throw BackplaneError(
                .callDeadline, "\(member.name) has not come back from a step of an earlier swap within \(swap.stepLimit)", at: component.node.location)
        }
        member.isOldSuspended = true
        if let cut = try await suspend(component, swap.stepLimit) { swap.report.warnings.append(cut) }
    }

    /// Suspends an instance that nobody calls: what it began with the host's services ends before, or at least in, its `suspend`.
    ///
    /// - Returns: what had to be cut short.
    func suspend(_ component: RunningComponent, _ limit: Duration, canBeGivenUp: Bool = true) async throws(BackplaneError) -> String? {
        let served = ComponentHandles.find(component.handle)
        let isIdle = { !(served?.isBusy ?? false) }
        _ = await drained(Self.servicesLimit, isIdle)
        try await starter.limited("be suspended", component.node, limit: limit, canBeGivenUp: canBeGivenUp) { watch async throws(BackplaneError) in
            try await component.instance.suspend(watch, HostThread.launch)
        }
        if await drained(Self.servicesLimit, isIdle) { return nil }
        served?.exchanges.cancelAll()
        return isIdle()
            ? "\(component.name) had exchanges under way after it was suspended, which were cancelled; let `suspend` end what was begun"
            : "\(component.name) goes on to use the host's services though it was suspended; let `suspend` end what was begun"
    }

    /// How long what a component began with the host's services may take to end before, and again after, it is suspended.
    private static var servicesLimit: Duration { .seconds(1) }

    /// Leads all wires to the new instances: those to gated ones as soon as their gates open, the others now.
    func flip(_ swap: SwapUnderWay) {
        swap.isFlipped = true
        var placed: [Int: LiveNode] = [:]
        for member in swap.members {
            placed[member.plan.new] = member.new
            if let old = member.old { admit(old) }
            if let component = member.component { member.new.state = .ready(component) }
            member.baseline = counts(member)
        }
        putInForce(swap.after, keeping: swap.plan.kept, placing: placed)
        // What was not up and is looked up now comes up from the new code, once that is in force for callers.
        if !swap.gated.isEmpty { for node in swap.fresh(nodes) { node.leaves = true } }
        replaceStarted(swap.members.map { ($0.old, $0.new) })
        for member in swap.members { member.taken.formUnion(lead(member.component, gated: member.plan.isGated)) }
        if swap.options.probation != nil { for replacement in swap.replacements { generations.set(.onProbation, of: replacement.plugin) } }
        if swap.gated.isEmpty { serve(swap) }
    }

    /// - Returns: the bindings that this takes out of slots at once.
    func lead(_ component: RunningComponent?, gated: Bool) -> Set<Binding> {
        guard let component else { return [] }
        if gated {
            let (refused, early) = connections.lead(to: component)
            remotes.open(component.node, but: refused)
            return early
        }
        let (refused, opening) = connections.open(component)
        remotes.open(component.node, but: refused)
        return opening.taken
    }

    /// In the order of starting one stands where the other stood; one that stands there already stays.
    func replaceStarted(_ pairs: [(old: LiveNode?, new: LiveNode)]) {
        for (old, new) in pairs where !started.contains(where: { $0 === new }) {
            if let old, let index = started.firstIndex(where: { $0 === old }) { started[index] = new } else { started.append(new) }
        }
    }

    func activate(_ member: SwapMember, _ swap: SwapUnderWay) async throws(BackplaneError) {
        guard let component = member.component else { return }
        member.wasToBeActive = true
        try await starter.activate(component, limit: swap.stepLimit)
        member.isActive = true
        try requireRunning()
        // Those that are activated after it may call it already.
        if member.plan.isGated { member.gate.letIn(swap.newNumbers) }
    }

    /// Lets in whoever waits.
    func open(_ swap: SwapUnderWay) {
        for member in swap.gated {
            let opening = member.gate.open()
            if swap.isTakenBack { member.takenBack.formUnion(opening.taken) } else { member.taken.formUnion(opening.taken) }
            swap.report.callsHeld += opening.callsHeld
            swap.report.longestWait = max(swap.report.longestWait, opening.longestWait.milliseconds)
        }
        for node in swap.fresh(nodes) { node.leaves = false }
        serve(swap)
    }

    /// Callers are served by the new code; whoever waited to start something does so now.
    private func serve(_ swap: SwapUnderWay) {
        guard swap.served == nil else { return }
        swap.served = .now
        swap.end()
    }

    /// Waits for what nobody tells of: looks a few times at once, since most calls are over within a microsecond, and then now and then,
    /// for as long as the host runs.
    func drained(_ limit: Duration, _ isThere: () -> Bool) async -> Bool {
        if Drain.looks(isThere) { return true }
        return await timer.waits(limit) { isThere() || isStopped } && isThere()
    }
}

extension SwapUnderWay {
    /// Whose instance callers reach now: the old one, and after the flip the new one.
    fileprivate func nodeInForce(_ member: SwapMember) -> LiveNode? { isFlipped ? member.new : member.old }

    fileprivate var newNumbers: Set<UInt16> { Set(members.compactMap(\.new.number)) }

    /// Of the nodes after the flip those that were not there before and are no members.
    fileprivate func fresh(_ nodes: [LiveNode]) -> [LiveNode] {
        let known = Set(self.nodes.map(\.id) + members.map(\.new.id))
        return nodes.filter { !known.contains($0.id) }
    }

    func isMember(_ place: Int) -> Bool { members.contains { $0.plan.new == place } }

    /// Who is up, or was just made, at a place in the next plan; of a member the old one, as long as that serves.
    fileprivate func provider(at place: Int, _ nodes: [LiveNode]) -> RunningComponent? {
        if let member = members.first(where: { $0.plan.new == place }) { return member.oldComponent ?? member.component }
        return plan.stays[place].flatMap { nodes[$0].running }
    }
}
