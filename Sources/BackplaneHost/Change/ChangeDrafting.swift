import Backplane

extension Change {
    /// Plans a change without creating an instance or affecting running ones.
    ///
    /// - Parameter target: The manifest, the plugins and the instances that the change activates.
    static func draft(
        _ target: ChangeTarget, _ options: ChangeOptions, asked: Deadline, _ stopper: Stopper, _ turns: Turns
    ) async throws(BackplaneError) -> Change {
        let live = stopper.live
        // A component that is starting may look up others, so it has to finish before anything is decided.
        while let start = live.nodes.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        try live.requireRunning()
        let before = live.loaded, after = try target.manifest(replacing: before, in: live.loadFolder)
        let leftBehind = await stopper.instances.data.leftBehind(
            from: before, to: after, Succession(from: before.plan, to: after.plan))
        // Components may have been looked up meanwhile, or a probation may have failed.
        while let start = live.nodes.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        try live.requireRunning()
        guard live.isActive(before), live.loaded.plugins.map(\.key) == before.plugins.map(\.key) else {
            return try await draft(target, options, asked: asked, stopper, turns)
        }
        var running = live.running
        if case .manager(let name)? = target.recreated { running.wanted = [name] }
        if before.reading !== after.reading, stopper.starter.hasStartedAll {
            running.wanted = Set(after.eagerNames)
        }
        let plan = ChangePlan(
            from: before.plan, to: after.plan, running,
            recreating: try target.recreated?.nodes(of: after) ?? [], discardsState: options.discardsState,
            isReconfigurable: { after.plugins[$0.order].description.components[$0.index].isReconfigurable }
        ) { before.isSame($0, in: after, $1) }
        let swap = Change(
            plan, from: before, to: after, leftBehind: leftBehind, options, asked: asked, stopper, turns)
        swap.report.plugins = swap.incoming.map { plugin in
            swap.change(to: plugin, as: target.replacements.first { $0.plugin.key == plugin.key }?.library)
        }
        for member in swap.members {
            member.lane = swap.lane(of: member)
            swap.report.components.append(swap.change(member))
        }
        swap.report.components += plan.reconfigured.compactMap(swap.reconfiguration)
        swap.report.managers = swap.plannedManagers
        swap.report.wires = swap.wires
        swap.report.warnings = swap.warnings
        return swap
    }

    var refusals: [BackplaneError] {
        let mistakes = after.problems.filter { !known.contains($0) }.errors
        return mistakes + plan.refusals + (options.discardsState ? [] : leftBehind) + callersRefusals
    }

    /// The reasons for refusing the change because of callers, including callers that have come since it began.
    private var callersRefusals: [BackplaneError] {
        members.flatMap(misfits) + (options.allowsMissingMethods ? [] : removedMethods)
    }

    /// Throws an error if callers have come since the draft, and the new code does not serve all of them.
    func requireService() throws(BackplaneError) {
        // Callers wait for this check, and only few swaps need it.
        guard live.wires.hasWire(madeAfter: wiresAtDraft, but: leaving) else { return }
        if let error = BackplaneError.combining(refusals: callersRefusals) { throw error }
    }

    /// The problems that the same manifest already has with the active code.
    private var known: Set<Problem> { isOfAnotherManifest ? [] : Set(before.problems) }

    /// An error for each wire that uses methods that its provider loses.
    ///
    /// The wires of the manifest precede the wires of the host program and of lookups.
    private var removedMethods: [BackplaneError] {
        let planned = before.methodsRemoved(in: after, plan.succession)
        let others = members.flatMap { member -> [RemovedMethods] in
            guard let old = member.old?.node, let new = member.new?.node else { return [] }
            return live.wires.through(member.gate, but: leaving).compactMap { wire in
                RemovedMethods(
                    wire.status.user, wire.status.label, needing: wire.end.side.contract, of: new,
                    from: old.entry.component.contract, to: new.entry.component.contract)
            }
        }
        return (planned + others.filter { !planned.contains($0) }).map(\.error)
    }

    var preview: ChangeReport {
        var preview = report
        (preview.outcome, preview.refusals) = (.planned, refusals.map(\.shown))
        return preview
    }

    /// Returns errors for the wires that the new class no longer serves, excluding those that the manifest already
    /// reports.
    private func misfits(at member: ChangeMember) -> [BackplaneError] {
        guard let new = member.new?.node else { return [] }
        let type = after.componentClass(of: new)
        return live.wires.through(member.gate, but: leaving).compactMap { wire in
            if let user = wire.status.user, after.plan.faults[user] != nil { return nil }
            let difference: String
            if let misfit = new.entry.component.contract.difference(from: wire.end.side.contract) {
                difference = "the new \(new.entry) \(misfit)"
            } else if case .unreadable(let words) = live.wires.fit(of: wire.end, to: type) {
                difference = words
            } else {
                return nil
            }
            let user = wire.status.user ?? "the host program", contract = wire.end.side.contract
            return BackplaneError(
                .wireMismatch,
                "\(user) calls \(member.name) through `\(contract.name)` \(contract.version), but \(difference); swap \(user) together with it, or keep the old contract",
                at: new.location)
        }
    }

    /// Returns the change to a plugin from the one that it replaces; a new plugin replaces generation 0.
    private func change(to new: LoadedPlugin, as library: String?) -> PluginChange {
        let generations = live.generations, id = new.description.id
        let rivals = outgoing.filter { $0.description.id == id }
        let old = rivals.first { $0.reference?.library == new.reference?.library } ?? rivals.first
        return PluginChange(
            plugin: id, library: library ?? new.reference?.library ?? id,
            fromGeneration: old.map(generations.number) ?? 0,
            toGeneration: generations.number(of: new), fromVersion: (old ?? new).description.version,
            toVersion: new.description.version)
    }

    private func lane(of member: ChangeMember) -> Lane? {
        guard let old = member.oldComponent, let new = member.new?.node else { return nil }
        return lane(of: member.plan.state, from: old.type, to: after.componentClass(of: new))
    }

    private func change(_ member: ChangeMember) -> ComponentChange {
        let entry = member.node.node.entry, isEnd = member.new == nil
        var change = ComponentChange(
            component: member.name, role: "\(entry.component.role)",
            action: isEnd ? .stopped : member.plan.isRestart ? .recreated : member.old == nil ? .started : .replaced,
            reason: member.plan.reason, className: entry.component.className,
            fromVersion: member.oldComponent?.node.entry.component.version, toVersion: entry.component.version,
            manner: member.plan.isGated ? .gated : .ungated)
        change.formerName = member.renaming?.from
        change.state = member.plan.state.change(to: isEnd ? nil : entry.component.state)
        change.state?.lane = member.lane?.name
        change.state?.reason = member.lane?.reason
        change.callsInFlight = member.old == nil ? 0 : member.gate.callsInFlight
        change.graphs = graphs(of: member.oldComponent)
        return change
    }

    /// Returns the change of a running component that stays, at its old position, or `nil` if it is not running.
    private func reconfiguration(at place: Int) -> ComponentChange? {
        guard let component = nodes[place].running, let next = plan.kept[place] else { return nil }
        let entry = after.plan.nodes[next].entry
        return ComponentChange(
            component: component.name, role: "\(entry.component.role)", action: .reconfigured,
            reason: "its configuration has changed, and its class accepts another while it runs",
            className: entry.component.className, fromVersion: entry.component.version,
            toVersion: entry.component.version, callsInFlight: component.gate.callsInFlight)
    }

    private var plannedManagers: ManagerChanges {
        let ended = members.filter { $0.new == nil }.map(\.node.node), made = members.compactMap(\.new?.node)
        let isManager = { (node: Plan.Node) in node.role == .manager }
        return managerChanges(
            from: live.managersUp,
            to: renamed(live.managersUp).subtracting(ended.filter(isManager).map(\.name)).union(
                made.filter(isManager).map(\.name)))
    }

    /// The wires to the members before and after the change.
    private var wires: [WireChange] {
        members.flatMap { member -> [WireChange] in
            guard let new = member.new?.node else { return [] }
            let type = after.componentClass(of: new)
            return live.wires.through(member.gate, but: leaving).map { wire in
                let next = live.wires.lane(of: wire.end, to: type)
                return WireChange(
                    user: wire.status.user, label: wire.status.label, provider: member.name,
                    contract: wire.status.contract,
                    fromLane: wire.status.lane.name, toLane: next.name, reason: next.reason)
            }
        }
    }

    /// The ids of the changing nodes and their successors, whose wires are compared as the new code declares them.
    private var leaving: Set<Int> { Set(members.flatMap { [$0.old?.id, $0.new?.id] }.compactMap(\.self)) }

    /// The manifest's warnings that the new code causes, and the parts of replaced plugins that stay in the process.
    private var warnings: [String] {
        let replaced = Set(before.plugins.map(\.description.id))
        let lasting = incoming.filter { replaced.contains($0.description.id) }.flatMap { plugin in
            plugin.lasting.map { "\(plugin.description.id) \($0)" }
        }
        return planWarnings + lasting
    }

    private var planWarnings: [String] {
        after.problems.filter { $0.severity == .warning && !known.contains($0) }.map { "\($0.error)" } + plan.losses
            + (options.discardsState ? leftBehind.map(\.message) : [])
    }
}

extension LiveComposition {
    /// The active components, and the managers that they have looked up.
    fileprivate var running: ChangePlan.Running {
        var running = ChangePlan.Running(up: [])
        for (place, node) in nodes.enumerated() where node.running != nil {
            running.up.insert(place)
            running.found[place] = Set(node.found.keys.compactMap { loaded.plan.managers[$0.manager] })
        }
        return running
    }
}

extension BackplaneError {
    /// Returns one error for all reasons against a change, or `nil` if there is none.
    static func combining(refusals: [BackplaneError]) -> BackplaneError? {
        guard let first = refusals.first else { return nil }
        let rest = refusals.count == 1 ? "" : " (and \(refusals.count - 1) more)"
        return BackplaneError(
            .swapRefused, "the change was refused, and nothing was changed: \(first.message)\(rest)",
            at: first.location,
            causes: refusals)
    }
}
