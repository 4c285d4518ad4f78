import Backplane

/// The changes, one at a time, that stop, start, recreate and reconfigure components to activate another plan.
///
/// It belongs to the host's serial domain, as does everything that it uses.
final class CompositionChanges {
    private let live: LiveComposition
    private let instances: Instances
    private let startup: Startup
    private let shutdown: Shutdown
    /// The managers that a change stopped and then failed to restart.
    private var owed: Set<String> = []

    init(_ live: LiveComposition, _ instances: Instances, _ startup: Startup, _ shutdown: Shutdown) {
        (self.live, self.instances, self.startup, self.shutdown) = (live, instances, startup, shutdown)
    }

    /// Removes the managers that the active plan no longer has from those that must be restarted.
    func forgetRemovedManagers() {
        owed.formIntersection(live.loaded.plan.managers.keys)
    }

    /// The managers that should be running unless they have a problem.
    private var expectedManagers: Set<String> {
        startup.hasStartedAll ? owed.union(live.loaded.eagerNames) : owed
    }
}

// MARK: Another manifest

extension CompositionChanges {
    /// Returns whether a change requires a swap: one that carries over state, renames a manager, or changes a
    /// definition.
    func needsSwap(to new: LoadedManifest, _ change: PlanChange) -> Bool {
        touchesState(change) || renamesManagers(for: new, change) || changesDefinitions(for: new)
    }

    /// Checks that a manifest loses no data and no method, and applies the new configurations to the instances that
    /// stay.
    ///
    /// - Parameters:
    ///   - losesData: Whether controllers may start without their existing data.
    ///   - losesMethods: Whether callers may lose methods that they use.
    /// - Throws: The reasons against the change, in which case nothing was changed.
    func prepare(
        _ new: LoadedManifest, _ change: PlanChange, _ configurations: Reconfiguration, losesData: Bool,
        losesMethods: Bool
    ) async throws(BackplaneError) {
        if !losesData {
            let errors = await instances.dataLeftBehind(from: live.loaded, to: new, change.succession)
            if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: new.document.path) }
        }
        if !losesMethods { try requireMethods(of: new, change) }
        try await configurations.perform()
    }

    /// Activates a manifest that was prepared.
    ///
    /// - Throws: The errors of the managers that did not start.
    func activate(_ new: LoadedManifest, _ change: PlanChange, _ configurations: Reconfiguration)
        async throws(BackplaneError) -> ManifestChange
    {
        try await go(to: new, change, configurations) { expectedManagers }
    }

    /// Returns whether a change ends instances that have state.
    private func touchesState(_ change: PlanChange) -> Bool {
        change.removed.contains { place in
            let node = live.nodes[place]
            return node.running != nil && node.node.entry.component.state != nil
        }
    }

    /// Returns whether another manifest has a definition that is not active.
    private func changesDefinitions(for new: LoadedManifest) -> Bool {
        new.plugins(besides: live.loaded).contains { $0.definition != nil }
    }

    /// Returns whether another manifest renames a running manager, which callers can only keep through a swap.
    private func renamesManagers(for new: LoadedManifest, _ change: PlanChange) -> Bool {
        let old = live.loaded.plan, before = change.succession.before
        return new.plan.nodes.contains { node in
            guard node.role == .manager, let place = before[node.id] else { return false }
            return old.nodes[place].name != node.name && live.nodes[place].running != nil
        }
    }

    /// Checks that no caller loses a method that it uses.
    private func requireMethods(of new: LoadedManifest, _ change: PlanChange) throws(BackplaneError) {
        let leaving = change.removed.map { live.nodes[$0] }
        let changes = leaving.compactMap { node in
            change.succession.after[node.node.id].map { place in
                RemovingChange(gate: node.gate, old: node.node, new: new.plan.nodes[place])
            }
        }
        let errors = live.removals(in: new, change.succession, changes, leaving: Set(leaving.map(\.id)))
        if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: new.document.path) }
    }
}

// MARK: Recreation

extension CompositionChanges {
    /// Recreates a manager and the components that only it uses or, with `nil`, all running components.
    ///
    /// - Throws: The errors of the managers that did not start.
    func reset(_ manager: String?) async throws(BackplaneError) -> ManifestChange {
        let loaded = live.loaded, plan = loaded.plan
        guard let manager else {
            let everything = Set(plan.nodes.map(\.id))
            return try await go(to: loaded, PlanChange(resetting: everything, of: plan)) { expectedManagers }
        }
        let node = try loaded.node(ofManager: manager)
        let layers = plan.layers(of: node).filter { $0.managers == [manager] }
        // Managers that failed to start for want of this one may be able to start now.
        return try await go(to: loaded, PlanChange(resetting: Set([node.id] + layers.map(\.id)), of: plan)) {
            expectedManagers.intersection(plan.managers(needing: node)).union([manager])
        }
    }
}

// MARK: Stopping and starting

extension CompositionChanges {
    /// Stops, starts and recreates components so that a manifest becomes active.
    ///
    /// - Parameters:
    ///   - configurations: The new configurations of instances that stay.
    ///   - managers: A function that returns additional managers to start, called once the leaving components have
    ///     stopped.
    private func go(
        to new: LoadedManifest, _ change: PlanChange, _ configurations: Reconfiguration? = nil,
        in domain: isolated (any Actor)? = #isolation, starting managers: () -> Set<String>
    ) async throws(BackplaneError) -> ManifestChange {
        let leaving = change.removed.map { live.nodes[$0] }
        await live.remove(leaving)
        try live.requireRunning()
        let before = live.managersUp
        let standstill = Task {
            _ = domain
            await shutdown.stop(leaving, for: new.plan)
            live.activate(new, keeping: change.kept)
            live.pause = nil
        }
        live.pause = standstill
        await standstill.value
        try live.requireRunning()

        let refusals = await configurations?.finish() ?? []
        let errors = refusals + (await startup.start(before.union(managers()).sorted()))
        try live.requireRunning()
        let after = live.managersUp
        owed = owed.union(before).subtracting(after).filter { new.plan.managers[$0] != nil }
        if !errors.isEmpty { throw .combining(errors, of: "the change", at: new.document.path) }
        return ManifestChange(
            before: before, after: after,
            remade: Set(leaving.lazy.map(\.node).filter { $0.role == .manager }.map(\.name)),
            reconfigured: Set(
                change.reconfigured.compactMap { change.kept[$0] }.flatMap { new.plan.nodes[$0].managers }))
    }
}

extension Plan {
    /// Returns the managers that depend on a node, directly or indirectly.
    fileprivate func managers(needing node: Node) -> Set<String> {
        var needing = Set([node.id])
        for other in nodes where other.wires.contains(where: { needing.contains($0.provider) }) {
            needing.insert(other.id)
        }
        return Set(needing.lazy.map { nodes[$0] }.filter { $0.role == .manager }.map(\.name))
    }
}

/// The effect of activating a manifest on its managers, by name.
public struct ManifestChange: Codable, Sendable, Hashable {
    /// The managers that were not running before.
    public var started: Set<String> = []
    /// The managers whose instance was replaced.
    public var restarted: Set<String> = []
    /// The managers that are no longer running.
    public var stopped: Set<String> = []
    /// The managers that were reconfigured without being recreated, or that have such a collaborator.
    public var reconfigured: Set<String> = []
    /// The managers that were not affected.
    public var kept: Set<String> = []

    package init(
        started: Set<String>, restarted: Set<String>, stopped: Set<String>, reconfigured: Set<String> = [],
        kept: Set<String>
    ) {
        self.reconfigured = reconfigured
        (self.started, self.restarted, self.stopped, self.kept) = (started, restarted, stopped, kept)
    }

    init(before: Set<String>, after: Set<String>, remade: Set<String>, reconfigured: Set<String> = []) {
        started = after.subtracting(before)
        stopped = before.subtracting(after)
        restarted = before.intersection(after).intersection(remade)
        self.reconfigured = before.intersection(after).intersection(reconfigured).subtracting(remade)
        kept = before.intersection(after).subtracting(remade).subtracting(reconfigured)
    }
}

/// The reconfiguration of running instances by a change: either all of them or none.
final class Reconfiguration {
    private let live: LiveComposition
    private let starter: ComponentStarter
    /// The positions of the nodes whose configuration changes, before and after the change.
    private let places: [(old: Int, new: Int)]
    private let plan: Plan
    /// The nodes whose instances have applied their configuration, in order, each with its earlier definition.
    private var taken: [(node: LiveNode, component: RunningComponent, before: Plan.Node)] = []

    /// Creates the reconfiguration of some of the nodes that stay.
    ///
    /// - Parameters:
    ///   - places: The earlier positions of the nodes whose configuration changes.
    ///   - kept: The later position of each node that stays, keyed by its earlier position.
    init(
        _ places: [Int], keeping kept: [Int: Int], to plan: Plan, _ live: LiveComposition, _ starter: ComponentStarter
    ) {
        self.places = places.compactMap { place in kept[place].map { (place, $0) } }
        (self.plan, self.live, self.starter) = (plan, live, starter)
    }

    /// Applies the new configuration to every running instance, before any other part of the change.
    ///
    /// - Throws: The error of the first instance that refuses its configuration; the instances before it have the old
    ///   one again.
    func perform() async throws(BackplaneError) {
        for place in places {
            let node = live.nodes[place.old], next = plan.nodes[place.new]
            _ = await node.startUnderWay?.value
            guard let component = node.running else { continue }
            do throws(BackplaneError) {
                try live.requireRunning()
                let before = node.node
                try await give(next, to: component, of: node)
                taken.append((node, component, before))
            } catch {
                await revert()
                throw BackplaneError(
                    error.code,
                    "\(component.name) refused its new configuration, so nothing was changed: \(error.message)",
                    at: next.place(of: next.configurationKey + (error.location ?? "")), failure: error.failure,
                    causes: [error])
            }
        }
    }

    /// Applies the new configuration to instances that were started with the old one during the change.
    ///
    /// - Returns: The errors of the instances that refused it.
    func finish() async -> [BackplaneError] {
        var errors: [BackplaneError] = []
        for place in places {
            let node = live.nodes[place.new], next = plan.nodes[place.new]
            _ = await node.startUnderWay?.value
            guard let component = node.running, !taken.contains(where: { $0.component === component }),
                component.node.configuration != next.configuration
            else { continue }
            do throws(BackplaneError) { try await give(next, to: component, of: node) } catch {
                errors.append(
                    BackplaneError(
                        error.code,
                        "\(component.name), which was started during the change, refused its new configuration and "
                            + "continues with the old one: \(error.message)",
                        at: next.place(of: next.configurationKey), causes: [error]))
            }
        }
        return errors
    }

    private func give(_ next: Plan.Node, to component: RunningComponent, of node: LiveNode) async throws(BackplaneError)
    {
        guard node.isBetweenSteps(component) else {
            throw BackplaneError(.callDeadline, "an earlier step of the component has not ended")
        }
        try await starter.limited("take its configuration", component.node) { watch async throws(BackplaneError) in
            try await component.instance.reconfigure(Array(next.configuration), watch)
        }
    }

    /// Restores the old configuration of the instances that have applied the new one, in reverse order.
    func revert() async {
        for (node, component, before) in taken.reversed() where node.running === component {
            do throws(BackplaneError) { try await give(before, to: component, of: node) } catch {
                live.log(
                    .error,
                    "refused its old configuration after another component had refused its new one; it may continue with the new one",
                    component, error)
            }
        }
        taken = []
    }
}
