import Backplane
import BackplaneBoundary

/// The graphs of operations of the members.
///
/// Graphs with a definition are halted before the flip, saved, and continued by the next instance. The flip waits until
/// the other graphs have ended.
extension SwapTransaction {
    private var graphs: HostOperations { starter.graphs }

    /// Returns the instance of a member that is currently called.
    private func active(_ member: SwapMember) -> RunningComponent? {
        activeNode(member)?.callable
    }

    /// Returns the instance of a member that continues its graphs.
    private func next(_ member: SwapMember) -> RunningComponent? {
        machine.isTakingBack ? member.restored ?? member.oldComponent : member.component
    }

    // MARK: Before the flip

    /// Checks that the new code has the definitions of all graphs that continue in it.
    ///
    /// - Throws: `swap.refused` with the graphs that it lacks.
    func requireDefinitions() throws(BackplaneError) {
        guard !machine.isTakingBack else { return }
        for member in members {
            guard let component = active(member) else { continue }
            let names = graphs.unknown(of: component.handle, to: next(member)?.handle)
            guard !names.isEmpty else { continue }
            let text = Self.listed(names)
            guard options.abandonsGraphs else {
                let reason =
                    member.new == nil
                    ? "the manifest no longer has \(member.name), which runs \(text)"
                    : "the new code of \(member.name) does not define \(text), which runs"
                throw BackplaneError(
                    .swapRefused,
                    "\(reason); keep the definition, wait for the graph to end, or abandon it with "
                        + "`SwapOptions.abandonsGraphs`", at: member.node.node.location)
            }
            report.warnings.append("\(text) of \(component.name) was abandoned")
            graphs.cancelUnknown(of: component.handle, to: next(member)?.handle)
        }
    }

    /// Records the graphs without a definition for which the flip waits.
    ///
    /// If calls of a component do not wait, the flip does not wait for graphs that it starts from now on, either; they
    /// end before the instance is released.
    func awaitGraphs() {
        for member in members { member.awaitedGraphs = active(member).map { graphs.unnamed(of: $0.handle) } ?? [] }
    }

    /// Halts the graphs that continue in the next instances.
    func holdGraphs() {
        for component in members.compactMap(active) { graphs.hold(component.handle) }
    }

    /// Halts the graphs, and returns whether they are halted.
    func graphsStandStill() -> Bool {
        holdGraphs()
        return members.compactMap(active).allSatisfy { graphs.standStill(of: $0.handle) }
    }

    /// Resumes the graphs in the active instances.
    func letGraphsGoOn() {
        for component in members.compactMap(active) { graphs.goOn(component.handle) }
    }

    /// A Boolean value that indicates whether the flip need not wait for any graph.
    var graphsHaveEnded: Bool {
        members.allSatisfy { member in
            guard let component = active(member) else { return true }
            return graphs.standStill(of: component.handle) && pending(in: member, component).isEmpty
        }
    }

    /// Returns the numbers of a member's graphs that end with their code and for which the flip waits.
    private func pending(in member: SwapMember, _ component: RunningComponent) -> Set<UInt64> {
        let unnamed = graphs.unnamed(of: component.handle)
        return member.plan.isGated || member.new == nil ? unnamed : unnamed.intersection(member.awaitedGraphs)
    }

    /// The graphs for which the flip waits, for use in messages.
    var awaitedGraphs: [String] {
        members.flatMap { member -> [String] in
            guard let component = active(member) else { return [] }
            return graphs.moving(of: component.handle).map { "a node of the graph `\($0)` of \(component.name)" }
                + graphs.names(of: pending(in: member, component)).map { "the graph `\($0)` of \(component.name)" }
        }
    }

    /// The numbers of the graphs for which the flip waits and that end with their code.
    var graphsWithoutSuccessor: Set<UInt64> {
        members.reduce(into: []) { numbers, member in
            if let component = active(member) { numbers.formUnion(pending(in: member, component)) }
        }
    }

    /// Cancels the graphs without a definition for which the flip waits, if the options request this.
    ///
    /// - Returns: Whether there are any.
    func abandonGraphs() -> Bool {
        guard options.abandonsGraphs else { return false }
        var isAny = false
        for member in members {
            guard let component = active(member) else { continue }
            let numbers = pending(in: member, component)
            guard !numbers.isEmpty else { continue }
            isAny = true
            report.warnings.append("\(Self.listed(graphs.names(of: numbers))) of \(component.name) was cancelled")
            graphs.cancel(numbers)
        }
        return isAny
    }

    /// Saves the halted graphs of the active instance.
    func saveGraphs(of member: SwapMember) async throws(BackplaneError) {
        member.graphs = []
        guard let component = active(member), let next = next(member) else { return }
        for (number, graph) in graphs.saving(of: component.handle) {
            guard let definition = graph.definition, graphs.hasDefinition(definition, of: next.handle) else {
                if machine.isTakingBack {
                    report.warnings.append(
                        "the graph `\(graph.name)` of \(component.name) is lost: the old code does not define it")
                }
                continue
            }
            let bytes: [UInt8]
            do throws(BackplaneError) {
                bytes = try await starter.limited("save a graph", component.node, limit: stepLimit) {
                    watch async throws(BackplaneError) in
                    try await graph.functions.save(watch)
                }
            } catch {
                throw BackplaneError(
                    error.code, "the graph `\(graph.name)` of \(component.name) cannot be saved: \(error.message)",
                    at: component.node.location, causes: [error])
            }
            member.graphs.append(SavedGraph(number: number, name: graph.name, definition: definition, bytes: bytes))
        }
    }

    // MARK: After the flip

    /// Continues the saved graphs in the instance that callers now reach.
    func continueGraphs(of member: SwapMember) async {
        let saved = member.graphs
        member.graphs = []
        guard let component = next(member) else { return }
        for graph in saved { await continueGraph(graph, in: component, member) }
        guard machine.isTakingBack, let old = member.oldComponent else { return }
        // Graphs that the rejected code could not continue are still in the old instance.
        if component === old { graphs.goOn(old.handle) } else { graphs.giveUp(of: old.handle) }
    }

    private func continueGraph(_ graph: SavedGraph, in component: RunningComponent, _ member: SwapMember) async {
        guard let definition = graphs.definition(graph.definition, of: component.handle, continuing: graph.number)
        else {
            return
        }
        do throws(BackplaneError) {
            try await starter.limited("continue a graph", component.node, limit: stepLimit) {
                watch async throws(BackplaneError) in
                try await definition.restore(graph.number, graph.bytes, watch)
            }
        } catch {
            member.lostGraphs.append(graph.number)
            report.warnings.append("the graph `\(graph.name)` of \(component.name) is lost: \(error.message)")
            live.log(.error, "a graph is lost, because the active code cannot continue it", component, error)
        }
    }

    /// Ends the remaining graphs in an old instance that is about to be released.
    func endGraphs(of member: SwapMember) {
        guard let component = member.oldComponent else { return }
        graphs.abandon(member.lostGraphs, of: component.handle)
        if options.abandonsGraphs {
            graphs.giveUp(of: component.handle)
            graphs.cancel(graphs.unnamed(of: component.handle))
        }
        // One that was begun after the others were saved ends here.
        graphs.goOn(component.handle)
    }

    /// Ends the remaining graphs of a new instance that is about to be discarded, because no code continues them.
    func giveUpGraphs(of component: RunningComponent) {
        graphs.giveUp(of: component.handle)
        if served == nil { graphs.cancel(graphs.unnamed(of: component.handle)) }
    }

    private static func listed(_ names: [String]) -> String {
        let shown = names.prefix(3).map { "`\($0)`" }.joined(separator: ", ")
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        return "the graph\(names.count == 1 ? "" : "s") \(shown)\(more)"
    }
}

extension SwapMember {
    /// Returns whether a swap may have to wait for graphs of the old instance.
    func mayHaveGraphs(in graphs: HostOperations) -> Bool {
        guard let oldComponent else { return false }
        return graphs.defines(oldComponent.handle) || graphs.count(of: oldComponent.handle) > 0
    }
}
