import Backplane
import BackplaneBoundary

extension SwapTransaction {
    /// Plans a swap without creating an instance or touching any that runs.
    static func draft(
        _ replacements: [Replacement], _ options: SwapOptions, asked: Deadline, in surroundings: SwapSurroundings
    ) async throws(BackplaneError) -> SwapTransaction {
        let live = surroundings.startup.live
        // A component that is starting may look up others, so it has to finish before anything is decided.
        while let start = live.nodes.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        try live.requireRunning()
        let before = live.loaded
        for replacement in replacements {
            let id = replacement.plugin.description.id
            guard before.plugins.indices.contains(replacement.place),
                before.plugins[replacement.place].description.id == id
            else {
                throw BackplaneError(
                    .swapRefused, "another manifest was activated in the meantime; try again",
                    at: replacement.plugin.path)
            }
        }
        let after = before.replacing(
            Dictionary(uniqueKeysWithValues: replacements.map { ($0.place, $0.plugin) }), in: live.loadFolder)

        let plan = SwapPlan(from: before.plan, to: after.plan, live.running, discardsState: options.discardsState) {
            before.isSame($0, in: after, $1)
        }
        let members = plan.members.enumerated().map { index, member in
            let old = member.old.map { live.nodes[$0] }, node = after.plan.nodes[member.new]
            return SwapMember(
                index, member, old: old, old.map { before.plugins[$0.node.entry.order] },
                new: live.makeNode(node, gate: old?.gate),
                after.plugins[node.entry.order])
        }
        let swap = SwapTransaction(
            members, plan, from: before, to: after, replacements, options, asked: asked, in: surroundings)
        swap.report.plugins = replacements.map(swap.change)
        swap.report.components = members.map(swap.change)
        swap.report.wires = swap.wires
        swap.report.warnings = swap.warnings
        return swap
    }

    /// The reasons for refusing the swap.
    var refusals: [BackplaneError] {
        let known = Set(before.problems)
        let mistakes = after.problems.filter { $0.severity == .error && !known.contains($0) }.map(\.error)
        return mistakes + plan.refusals + members.flatMap(misfits)
    }

    /// The effects that the swap would have.
    var preview: SwapPreview {
        var preview = SwapPreview()
        (preview.plugins, preview.components, preview.wires) = (report.plugins, report.components, report.wires)
        (preview.refusals, preview.warnings) = (refusals, report.warnings)
        return preview
    }

    /// Returns errors for the wires that the new class no longer serves, as far as the manifest does not know them.
    private func misfits(at member: SwapMember) -> [BackplaneError] {
        let description = member.new.node.entry.component
        return live.connections.wires(to: member.gate, but: leaving).compactMap { wire in
            guard let difference = description.contract.difference(from: wire.end.side.contract) else { return nil }
            let user = wire.status.user ?? "the host program", contract = wire.end.side.contract
            return BackplaneError(
                .wireMismatch,
                "\(user) calls \(member.name) through `\(contract.name)` \(contract.version), but the new \(member.new.node.entry) \(difference); swap \(user) together with it, or keep the old contract",
                at: member.new.node.location)
        }
    }

    private func change(_ replacement: Replacement) -> PluginChange {
        let generations = live.generations, old = before.plugins[replacement.place], new = replacement.plugin
        return PluginChange(
            plugin: new.description.id, library: replacement.library, fromGeneration: generations.number(of: old),
            toGeneration: generations.number(of: new), fromVersion: old.description.version,
            toVersion: new.description.version)
    }

    private func change(_ member: SwapMember) -> ComponentChange {
        let entry = member.new.node.entry
        var change = ComponentChange(
            component: member.name, role: "\(entry.component.role)", className: entry.component.className,
            fromVersion: member.oldComponent?.node.entry.component.version, toVersion: entry.component.version,
            manner: member.plan.isGated ? .gated : .ungated)
        change.isRestart = member.plan.isRestart
        change.state = member.plan.state.change(to: entry.component.state)
        change.callsInFlight = member.old == nil ? 0 : member.gate.callsInFlight
        return change
    }

    /// The wires to the members, as they are and as they would be.
    private var wires: [WireChange] {
        members.flatMap { member in
            let type = after.componentClass(of: member.new.node)
            return live.connections.wires(to: member.gate, but: leaving).map { wire in
                let next = live.connections.lane(of: wire.end, to: type)
                return WireChange(
                    user: wire.status.user, label: wire.status.label, provider: member.name,
                    contract: wire.status.contract,
                    fromLane: wire.status.lane.name, toLane: next.name, reason: next.reason)
            }
        }
    }

    /// The ids of the nodes that are replaced.
    private var leaving: Set<Int> { Set(members.compactMap { $0.old?.id }) }

    /// The manifest's warnings that did not exist with the old code.
    private var warnings: [String] {
        let known = Set(before.problems)
        return after.problems.filter { $0.severity == .warning && !known.contains($0) }.map { "\($0.error)" }
    }
}

extension LiveComposition {
    /// The components that are up, and the managers that they have looked up.
    fileprivate var running: SwapPlan.Running {
        var running = SwapPlan.Running(up: [])
        for (place, node) in nodes.enumerated() where node.running != nil {
            running.up.insert(place)
            running.found[place] = Set(node.found.keys.compactMap { loaded.plan.managers[$0.manager] })
        }
        return running
    }
}

extension WireStatus.Lane {
    /// The lane's name without the reason.
    package var name: String {
        switch self {
        case .native: "native"
        case .encoded: "encoded"
        case .served: "served"
        }
    }

    /// The reason why the lane is not native.
    package var reason: String? {
        switch self {
        case .native: nil
        case .encoded(let reason), .served(let reason): reason
        }
    }
}
