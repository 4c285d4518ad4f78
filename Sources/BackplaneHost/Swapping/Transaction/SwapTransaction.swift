import Backplane

/// Takes what is in force on probation, once callers see it.
package typealias ProbationReport = @Sendable ([PluginChange]) -> Void

/// A swap under way: performs what its machine says, and keeps what that comes to.
///
/// It belongs to the host's serial domain, as what it works on does.
final class SwapTransaction {
    let options: SwapOptions
    let replacements: [Replacement]
    /// In the order of creation.
    let members: [SwapMember]
    let plan: SwapPlan
    /// What is in force before and, if it succeeds, after it.
    let before, after: LoadedManifest
    /// The nodes before it, by their places.
    let nodes: [LiveNode]
    let asked: Deadline

    let surroundings: SwapSurroundings
    let live: LiveComposition

    var machine: SwapMachine
    var report = SwapReport(.swapped)
    var reportProbation: ProbationReport?
    /// Managers that came up since the flip, from code that was taken back.
    var interrupted: [String] = []
    /// When callers were first served by the new code.
    var served: Deadline?
    let handover: Handover
    /// The ids of nodes that change and are not up.
    private let dormant: Set<Int>

    init(
        _ members: [SwapMember], _ plan: SwapPlan, from before: LoadedManifest, to after: LoadedManifest, _ replacements: [Replacement],
        _ options: SwapOptions, asked: Deadline, in surroundings: SwapSurroundings
    ) {
        (self.members, self.plan, self.before, self.after) = (members, plan, before, after)
        (self.replacements, self.options, self.asked) = (replacements, options, asked)
        self.surroundings = surroundings
        live = surroundings.startup.live
        nodes = live.nodes
        let staying = Set(plan.kept.keys), up = Set(members.compactMap { $0.old?.id })
        dormant = Set(nodes.enumerated().filter { !staying.contains($0.offset) && !up.contains($0.element.id) }.map(\.element.id))
        handover = Handover(incoming: Set(members.map(\.new.id)), withheld: dormant)
        machine = SwapMachine(
            members.map { SwapMachine.Member(isGated: $0.plan.isGated, hasOld: $0.old != nil, carriesState: $0.plan.state.isCarried) },
            onProbation: options.probation != nil)
    }

    var startup: Startup { surroundings.startup }

    var retirements: Retirements { surroundings.retirements }

    var instances: Instances { startup.instances }

    var starter: ComponentStarter { instances.starter }

    var gated: [SwapMember] { members.filter(\.plan.isGated) }

    var stepLimit: Duration { options.stepLimit }

    /// Those that nobody starts now: what changes and is not up, and what would come up from new code that is not in force for callers.
    private var withheld: Set<Int> {
        var withheld = dormant
        if machine.states.wires == .newOnceOpen {
            let known = Set(nodes.map(\.id) + members.map(\.new.id))
            withheld.formUnion(live.nodes.lazy.map(\.id).filter { !known.contains($0) })
        }
        return withheld
    }

    /// Puts the new builds in force, or leaves everything as it was.
    ///
    /// - Throws: why a step failed, the old generation being in force.
    func perform() async throws(BackplaneError) -> SwapReport {
        // Libraries have been loaded, and their swap decided.
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
            log(.error, "swap failed, the old code goes on", error)
            throw failure(after: action, error)
        case .rolledBack(let error):
            (report.outcome, report.failure) = (.rolledBack, error)
            live.takeOut(replacements.map(\.plugin), afterProbation: true)
            log(.error, "rolled back", error)
            handover.withheld = []
            await start(interrupted.filter { live.loaded.plan.managers[$0] != nil }.sorted())
        default:
            log(.info, "swapped", nil)
            // Managers that the new code made possible.
            if startup.hasStartedAll { await start(after.eagerNames.filter { before.plan.managers[$0] == nil }) }
        }
        return report
    }

    private func perform(_ action: SwapAction) async throws(BackplaneError) {
        // One that is to be suspended is asked for that only once its calls have ended.
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

// MARK: What others are told

extension SwapTransaction {
    /// Notes how long a step took.
    private func note(_ step: SwapStep, _ duration: Duration) {
        if let index = report.steps.firstIndex(where: { $0.step == step }) {
            report.steps[index].duration += duration
        } else {
            report.steps.append(StepTime(step: step, duration: duration))
        }
    }

    /// Whoever asked for the swap is told this of an action that failed while the old code came back.
    private func warning(of action: SwapAction, _ error: BackplaneError) -> String {
        if case .restore(let index) = action {
            return "what \(members[index].name) has changed in its state since the swap is lost, it goes on with the state before: \(error.message)"
        }
        return "while the old code came back: \(error.message); what such calls change from now on is lost"
    }

    private func failure(after action: SwapAction, _ error: BackplaneError) -> BackplaneError {
        let plugins = report.plugins.map { "\($0.plugin) \($0.toVersion)" }.joined(separator: ", ")
        return BackplaneError(
            .swapFailed, "\(plugins) could not be put in force: \(action.step.rawValue): \(error.message); the old code goes on", at: error.location,
            causes: [error])
    }

    private func log(_ level: Log.Level, _ message: String, _ error: BackplaneError?) {
        guard live.options.log.isEnabled(level) else { return }
        for plugin in report.plugins {
            var metadata = ["plugin": plugin.plugin, "generation": "\(plugin.toGeneration)", "version": "\(plugin.toVersion)"]
            metadata["error"] = error?.description
            live.options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
        }
    }
}

extension Duration {
    /// As reports print it.
    package var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
