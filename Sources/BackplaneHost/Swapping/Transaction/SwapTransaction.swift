import Backplane

/// A function that is told of the plugins on probation, once callers see them.
package typealias ProbationReport = @Sendable ([PluginChange]) -> Void

/// A swap in progress: performs the actions of its machine and keeps their results.
///
/// It belongs to the host's serial domain, as does everything that it works on.
final class SwapTransaction {
    let options: SwapOptions
    let replacements: [Replacement]
    /// The members in order of creation.
    let members: [SwapMember]
    let plan: SwapPlan
    /// The active manifest before the swap and, if it succeeds, after it.
    let before, after: LoadedManifest
    /// The nodes before the swap, by place.
    let nodes: [LiveNode]
    let asked: Deadline

    let surroundings: SwapSurroundings
    let live: LiveComposition

    var machine: SwapMachine
    var report = SwapReport(.swapped)
    var reportProbation: ProbationReport?
    /// The managers that were started since the flip, from code that was rolled back.
    var interrupted: [String] = []
    /// The time at which callers were first served by the new code.
    var served: Deadline?
    let handover: Handover
    /// The ids of nodes that change and are not up.
    private let dormant: Set<Int>

    init(
        _ members: [SwapMember], _ plan: SwapPlan, from before: LoadedManifest, to after: LoadedManifest,
        _ replacements: [Replacement],
        _ options: SwapOptions, asked: Deadline, in surroundings: SwapSurroundings
    ) {
        (self.members, self.plan, self.before, self.after) = (members, plan, before, after)
        (self.replacements, self.options, self.asked) = (replacements, options, asked)
        self.surroundings = surroundings
        live = surroundings.startup.live
        nodes = live.nodes
        let staying = Set(plan.kept.keys), up = Set(members.compactMap { $0.old?.id })
        dormant = Set(
            nodes.enumerated().filter { !staying.contains($0.offset) && !up.contains($0.element.id) }.map(\.element.id))
        handover = Handover(incoming: Set(members.map(\.new.id)), withheld: dormant)
        machine = SwapMachine(
            members.map {
                SwapMachine.Member(
                    isGated: $0.plan.isGated, hasOld: $0.old != nil, carriesState: $0.plan.state.isCarried)
            },
            onProbation: options.probation != nil)
    }

    var startup: Startup { surroundings.startup }

    var retirements: Retirements { surroundings.retirements }

    var instances: Instances { startup.instances }

    var starter: ComponentStarter { instances.starter }

    var gated: [SwapMember] { members.filter(\.plan.isGated) }

    var stepLimit: Duration { options.stepLimit }

    /// The ids of the nodes that must not start now.
    ///
    /// These are changing nodes that are not up, and after the flip those of new code that does not serve callers yet.
    private var withheld: Set<Int> {
        var withheld = dormant
        if machine.states.wires == .newOnceOpen {
            let known = Set(nodes.map(\.id) + members.map(\.new.id))
            withheld.formUnion(live.nodes.lazy.map(\.id).filter { !known.contains($0) })
        }
        return withheld
    }

    /// Activates the new builds, or leaves everything as it was.
    ///
    /// - Throws: The reason why a step failed; the old generation is then active.
    func perform() async throws(BackplaneError) -> SwapReport {
        // Loading the libraries and planning the swap belong to the first step.
        note(.prepare, .now - asked)
        live.handover = handover
        defer {
            live.handover = nil
            handover.end()
        }
        while let action = machine.next() {
            let began = Deadline.now
            do throws(BackplaneError) {
                if action.canFail { try surroundings.options.fault?(action) }
                try await perform(action)
            } catch {
                if machine.isTakingBack { report.warnings.append(warning(of: action, error)) }
                machine.failed(error)
            }
            handover.withheld = withheld
            note(action.step, .now - began)
        }
        if let served { report.duration = served - asked }
        switch machine.outcome {
        case .undone(let action, let error):
            live.takeOut(replacements.map(\.plugin))
            log(.error, "swap failed, the old code keeps running", error)
            throw failure(after: action, error)
        case .rolledBack(let error):
            (report.outcome, report.failure) = (.rolledBack, error)
            live.takeOut(replacements.map(\.plugin), afterProbation: true)
            log(.error, "rolled back", error)
            handover.withheld = []
            await start(interrupted.filter { live.loaded.plan.managers[$0] != nil }.sorted())
        default:
            log(.info, "swapped", nil)
            // The new code may have made further managers possible.
            if startup.hasStartedAll { await start(after.eagerNames.filter { before.plan.managers[$0] == nil }) }
        }
        return report
    }

    private func perform(_ action: SwapAction) async throws(BackplaneError) {
        // A member begins to be suspended only when its calls have ended.
        if case .suspend = action {} else { machine.begin() }
        switch action {
        case .create(let index): try await create(members[index])
        case .hold: hold()
        case .drain: try await drain()
        case .suspend(let index): try await suspend(members[index])
        case .export(let index): try await export(members[index])
        case .import(let index): try await take(members[index])
        case .flip: flip()
        case .activate(let index): try await activate(members[index])
        case .open: open()
        case .watch: try await watch()
        case .retire: await retire()
        case .discard(let index): await discard(members[index])
        case .deactivate(let index): await deactivate(members[index])
        case .unflip: unflip()
        case .resume(let index): await resume(members[index])
        case .release: release()
        case .restore(let index): try await restore(members[index])
        case .flipBack: await flipBack()
        }
    }

    private func start(_ managers: [String]) async {
        report.warnings += await startup.start(managers).map { "did not start: \($0)" }
    }
}

// MARK: Reporting

extension SwapTransaction {
    /// Records the time that a step took.
    private func note(_ step: SwapStep, _ duration: Duration) {
        if let index = report.steps.firstIndex(where: { $0.step == step }) {
            report.steps[index].duration += duration
        } else {
            report.steps.append(StepTime(step: step, duration: duration))
        }
    }

    /// Returns the report's warning about an undoing action that failed.
    private func warning(of action: SwapAction, _ error: BackplaneError) -> String {
        if case .restore(let index) = action {
            return
                "the changes to the state of \(members[index].name) since the swap are lost, and it continues with the earlier state: \(error.message)"
        }
        return "during the rollback: \(error.message); the changes that such calls still make are lost"
    }

    private func failure(after action: SwapAction, _ error: BackplaneError) -> BackplaneError {
        let plugins = report.plugins.map { "\($0.plugin) \($0.toVersion)" }.joined(separator: ", ")
        return BackplaneError(
            .swapFailed,
            "\(plugins) could not be swapped in: \(action.step.rawValue): \(error.message); the old code keeps running",
            at: error.location,
            causes: [error])
    }

    private func log(_ level: Log.Level, _ message: String, _ error: BackplaneError?) {
        guard live.options.log.isEnabled(level) else { return }
        for plugin in report.plugins {
            var metadata = [
                "plugin": plugin.plugin, "generation": "\(plugin.toGeneration)", "version": "\(plugin.toVersion)",
            ]
            metadata["error"] = error?.description
            live.options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
        }
    }
}

extension Duration {
    /// The duration in milliseconds, as reports print it.
    package var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
