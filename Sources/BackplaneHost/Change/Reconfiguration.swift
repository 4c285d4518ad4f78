import Backplane

/// The reconfiguration of running instances by a change: either all of them or none.
final class Reconfiguration {
    private let live: LiveComposition
    private let instances: Instances
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
        _ places: [Int], keeping kept: [Int: Int], to plan: Plan, _ instances: Instances
    ) {
        self.places = places.compactMap { place in kept[place].map { (place, $0) } }
        (self.plan, self.instances, live) = (plan, instances, instances.live)
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
                    "\(component.name) refused its new configuration: \(error.message)",
                    at: next.place(of: "/\(next.configurationKey)\(error.location ?? "")"), failure: error.failure,
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
                        at: next.place(of: "/\(next.configurationKey)"), causes: [error]))
            }
        }
        return errors
    }

    private func give(_ next: Plan.Node, to component: RunningComponent, of node: LiveNode) async throws(BackplaneError)
    {
        guard node.isBetweenSteps(component) else {
            throw BackplaneError(.callDeadline, "an earlier step of the component has not ended")
        }
        try await instances.limited("take its configuration", component.node) { watch async throws(BackplaneError) in
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
