import Backplane

/// The reconfiguration of the running instances that stay: either all of them or none.
extension Change {
    /// Applies the new configuration to every running instance, before the flip.
    ///
    /// - Throws: The error of the first instance that refuses its configuration; the earlier instances have their old
    ///   configuration again.
    func reconfigure() async throws(BackplaneError) {
        for (place, next) in reconfigurations {
            let node = live.nodes[place]
            _ = await node.startUnderWay?.value
            guard let component = node.running else { continue }
            do throws(BackplaneError) {
                try live.requireRunning()
                let before = node.node
                try await give(next, to: component, of: node)
                reconfigured.append((node, component, before))
            } catch {
                await revertConfigurations()
                throw BackplaneError(
                    error.code,
                    "\(component.name) refused its new configuration: \(error.message)",
                    at: next.place(of: "/\(next.configurationKey)\(error.location ?? "")"), failure: error.failure,
                    causes: [error])
            }
        }
    }

    /// Applies the new configuration to instances that were started with the old one during the change.
    func reconfigureLateStarters() async {
        for (_, next) in reconfigurations {
            let node = live.nodes[next.id]
            _ = await node.startUnderWay?.value
            guard let component = node.running, !reconfigured.contains(where: { $0.component === component }),
                component.node.configuration != next.configuration
            else { continue }
            do throws(BackplaneError) { try await give(next, to: component, of: node) } catch {
                report.warnings.append(
                    "\(component.name), which was started during the change, refused its new configuration and "
                        + "continues with the old one: \(error.message)")
            }
        }
    }

    /// Restores the old configuration of the instances that have applied the new one, in reverse order.
    func revertConfigurations() async {
        for (node, component, before) in reconfigured.reversed() where node.running === component {
            do throws(BackplaneError) { try await give(before, to: component, of: node) } catch {
                live.log(
                    .error,
                    "refused its old configuration after another component had refused its new one; it may continue with the new one",
                    component, error)
            }
        }
        reconfigured = []
    }

    /// The nodes whose configuration changes: their positions before the change, and their next definitions.
    private var reconfigurations: [(place: Int, next: Plan.Node)] {
        plan.reconfigured.compactMap { place in plan.kept[place].map { (place, after.plan.nodes[$0]) } }
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
}
