import Backplane

package typealias ChangeProgressReport = @Sendable (ChangeProgress) -> Void

/// A stage of a long change.
package enum ChangeProgress: Sendable, Hashable {
    /// The change is waiting for calls that outlasted the drain, which the text names.
    case waiting(for: String)
    /// Callers have reached the new code of these plugins.
    case onProbation([PluginChange])
}

/// A change in progress, which performs the actions of its machine and stores their results.
///
/// An applied manifest, a swap, a rollback and a reset differ only in what they activate (``ChangeTarget``).
///
/// A change and everything that it uses belong to the host's serial domain.
final class Change {
    let options: ChangeOptions
    let members: [ChangeMember]
    let plan: ChangePlan
    /// The active manifest before the change and, if it succeeds, after it.
    let before, after: LoadedManifest
    /// The plugins that the change activates, and those that it deactivates.
    let incoming, outgoing: [LoadedPlugin]
    /// The nodes before the change, keyed by position.
    let nodes: [LiveNode]
    let asked: Deadline

    let stopper: Stopper
    let turns: Turns
    let live: LiveComposition

    var machine: ChangeMachine
    var report = ChangeReport(.changed)
    var reportProgress: ChangeProgressReport?
    /// The managers that have been started since the flip from code that was rolled back.
    var interrupted: [String] = []
    /// The calls that outlasted the drain, while the gates are open again.
    var outlasting = OutlastingCalls()
    /// The time at which callers were first served by the new code.
    var served: Deadline?
    let handover: Handover
    /// The nodes whose instances have applied another configuration, in order, each with its earlier definition.
    var reconfigured: [(node: LiveNode, component: RunningComponent, before: Plan.Node)] = []
    /// The errors of data access controllers that would start without their existing data.
    let leftBehind: [BackplaneError]
    /// The number of wires that had been made when the change was drafted.
    let wiresAtDraft: Int
    /// The ids of changing nodes that are not running.
    private let dormant: Set<Int>

    init(
        _ plan: ChangePlan, from before: LoadedManifest, to after: LoadedManifest, leftBehind: [BackplaneError],
        _ options: ChangeOptions, asked: Deadline, _ stopper: Stopper, _ turns: Turns
    ) {
        let live = stopper.live, members = plan.members.enumerated().map { ChangeMember($0, $1, in: live, to: after) }
        (self.live, self.members, self.plan, self.before, self.after) = (live, members, plan, before, after)
        (self.leftBehind, wiresAtDraft) = (leftBehind, live.wires.made)
        (self.options, self.asked, self.stopper, self.turns) = (options, asked, stopper, turns)
        (incoming, outgoing) = (after.plugins(besides: before), before.plugins(besides: after))
        nodes = live.nodes
        let staying = Set(plan.kept.keys), up = Set(members.compactMap { $0.old?.id })
        dormant = Set(
            nodes.enumerated().filter { !staying.contains($0.offset) && !up.contains($0.element.id) }.map(\.element.id))
        handover = Handover(incoming: Set(members.compactMap(\.new?.id)), withheld: dormant)
        machine = ChangeMachine(
            members.map {
                ChangeMachine.Member(
                    isGated: $0.plan.isGated, hasOld: $0.old != nil, hasNew: $0.new != nil,
                    carriesState: $0.plan.state.isCarried)
            },
            onProbation: options.probation != nil, reconfigures: !plan.reconfigured.isEmpty)
    }

    var starter: Starter { stopper.starter }

    var clock: any HostClock { live.clock }

    var instances: Instances { stopper.instances }

    var gated: [ChangeMember] { members.filter(\.plan.isGated) }

    var stepLimit: Duration { options.stepLimit }

    var drainPolicy: DrainPolicy { options.drain ?? before.document.manifest.swap.drain }

    /// The ids of the nodes that must not start at present.
    ///
    /// These are changing nodes that are not running and, after the flip, nodes of new code that does not serve callers
    /// yet.
    private var withheld: Set<Int> {
        var withheld = dormant
        if machine.states.wires == .newOnceOpen {
            let known = Set(nodes.map(\.id) + members.compactMap(\.new?.id))
            withheld.formUnion(live.nodes.lazy.map(\.id).filter { !known.contains($0) })
        }
        return withheld
    }

    /// Activates the target, or leaves everything unchanged.
    ///
    /// - Throws: The reason why a step failed; the old generation is then active.
    func perform() async throws(BackplaneError) -> ChangeReport {
        let up = live.managersUp
        // Loading the libraries and planning the change belong to the first step.
        note(.prepare, clock.moment - asked)
        live.handover = handover
        defer {
            live.handover = nil
            handover.end()
            dropStates()
        }
        while let action = machine.next() {
            let began = clock.moment
            do throws(BackplaneError) {
                if action.canFail { try live.options.swapFault?(action) }
                try await perform(action)
            } catch {
                if machine.isTakingBack { report.warnings.append(warning(of: action, error)) }
                if !postpones(action, error) { machine.failed(error) }
            }
            handover.withheld = withheld
            note(action.step, clock.moment - began)
        }
        if let served { report.duration = served - asked }
        switch machine.outcome {
        case .undone(let action, let error):
            live.takeOut(incoming)
            try live.requireRunning()
            log(.error, "change failed, the old code keeps running", ["error": error.description])
            throw failure(after: action, error)
        case .rolledBack(let error):
            (report.outcome, report.failure) = (.rolledBack, error.shown)
            report.managers = ManagerChanges(kept: up)
            live.takeOut(incoming, afterProbation: true)
            log(.error, "rolled back", ["error": error.description])
            handover.withheld = []
            await start(interrupted.filter { live.loaded.plan.managers[$0] != nil }.sorted())
        default:
            log(.info, report.plugins.isEmpty ? "changed" : "swapped", [:])
            logSlowerWires()
            await reconfigureLateStarters()
            if starter.hasStartedAll { await start(possible) }
            report.managers = managerChanges(from: up, to: live.managersUp)
        }
        return report
    }

    private func perform(_ action: ChangeAction) async throws(BackplaneError) {
        // Callers may have come while the change waited for long calls.
        if action == .flip { try requireService() }
        // The suspension of a member begins only when its calls have ended.
        if case .suspend = action {} else { machine.begin() }
        switch action {
        case .create(let index): try await create(members[index])
        case .hold: hold()
        case .drain: try await drain()
        case .reopen: reopen()
        case .outlast: try await outlast()
        case .suspend(let index): try await suspend(members[index])
        case .export(let index): try await export(members[index])
        case .import(let index): try await take(members[index])
        case .reconfigure: try await reconfigure()
        case .flip: flip()
        case .activate(let index): try await activate(members[index])
        case .open: open()
        case .watch: try await watch()
        case .retire: await retire()
        case .discard(let index): await discard(members[index])
        case .deactivate(let index): await deactivate(members[index])
        case .unflip: unflip()
        case .revert: await revertConfigurations()
        case .resume(let index): await resume(members[index])
        case .release: release()
        case .restore(let index): try await restore(members[index])
        case .flipBack: await flipBack()
        }
    }

    var isOfAnotherManifest: Bool { before.reading !== after.reading }

    /// Returns the effect on the managers, given the names of those that run before and after.
    func managerChanges(from up: Set<String>, to after: Set<String>) -> ManagerChanges {
        ManagerChanges(
            before: renamed(up), after: after,
            remade: Set(members.compactMap(\.new?.node).lazy.filter { $0.role == .manager }.map(\.name)),
            reconfigured: Set(
                plan.reconfigured.compactMap { plan.kept[$0] }.flatMap { self.after.plan.nodes[$0].managers }))
    }

    /// Returns the names that managers have after the change.
    func renamed(_ managers: Set<String>) -> Set<String> {
        let names = Dictionary(members.compactMap(\.renaming), uniquingKeysWith: { first, _ in first })
        return Set(managers.map { names[$0] ?? $0 })
    }

    /// The names of the eager managers that are not running and that the change may enable to start.
    private var possible: [String] {
        after.eagerNames.filter { name in
            guard let place = after.plan.managers[name] else { return false }
            return live.nodes[place].running == nil && plan.stays[place] == nil
        }
    }

    private func start(_ managers: [String]) async {
        report.warnings += await starter.start(managers).map { "did not start: \($0)" }
    }
}

extension Change {
    private func note(_ step: ChangeStep, _ duration: Duration) {
        if let index = report.steps.firstIndex(where: { $0.step == step }) {
            report.steps[index].duration += duration
        } else {
            report.steps.append(StepTime(step: step, duration: duration))
        }
    }

    /// Returns the report's warning about an undoing action that failed.
    private func warning(of action: ChangeAction, _ error: BackplaneError) -> String {
        if case .restore(let index) = action {
            return
                "the changes to the state of \(members[index].name) since the swap are lost, and it continues with the earlier state: \(error.message)"
        }
        return "during the rollback: \(error.message); the changes that such calls still make are lost"
    }

    private func failure(after action: ChangeAction, _ error: BackplaneError) -> BackplaneError {
        let plugins = report.plugins.map { "\($0.plugin) \($0.toVersion)" }
        let subjects = plugins + (isOfAnotherManifest ? ["the manifest"] : [])
        let subject = subjects.isEmpty ? "a new instance" : subjects.joined(separator: ", ")
        let survivor = isOfAnotherManifest ? "the old manifest and code keep" : "the old code keeps"
        return BackplaneError(
            .swapFailed,
            "\(subject) could not be activated: \(action.step.rawValue): \(error.message); \(survivor) running",
            at: error.location,
            causes: [error])
    }

    /// Logs a message about each plugin that changes, or about the manifest.
    func log(_ level: Log.Level, _ message: String, _ metadata: [String: String]) {
        let subjects = report.plugins.map { plugin in
            ["plugin": plugin.plugin, "generation": "\(plugin.toGeneration)", "version": "\(plugin.toVersion)"]
        }
        for subject in subjects.isEmpty ? [["manifest": after.document.path ?? "of the program"]] : subjects {
            live.options.log.report(level, message, subject.merging(metadata) { $1 })
        }
    }

    /// Logs each wire that the change moved from the native to a slower lane, which callers would otherwise not notice.
    private func logSlowerWires() {
        for wire in report.wires where wire.fromLane == "native" && wire.toLane != wire.fromLane {
            var metadata = [
                "user": wire.user ?? "the host program", "wire": wire.label, "provider": wire.provider,
                "lane": wire.toLane,
            ]
            metadata["reason"] = wire.reason
            live.options.log.report(.warning, "calls through a wire are slower since the swap", metadata)
        }
    }
}

extension Duration {
    /// The duration in milliseconds, as printed in reports.
    package var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}

/// A component that changes, with its results so far; its progress is tracked by the machine.
final class ChangeMember {
    let index: Int
    let plan: ChangePlan.Member
    /// The node that was active before, or `nil` if there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The node of the new instance, or `nil` if the component is removed.
    let new: LiveNode?
    /// The new node, or the old node of a removed component.
    let node: LiveNode

    var component: RunningComponent?
    /// The lane in which the state crosses to the new instance, or `nil` if none is carried over.
    var lane: Lane?
    /// The exported state of the old instance, until the new one serves callers.
    var state: ExportedState?
    /// The bindings removed from slots: those of the old instance and, after a rollback, those of the new one.
    var taken: (old: Set<Binding>, new: Set<Binding>) = ([], [])
    /// The node of a new instance of the old code that receives the newer state after a rollback.
    var returning: LiveNode?
    var restored: RunningComponent?
    /// The call counts of the component when the new instance started to serve.
    var baseline = CallCounts()

    init(_ index: Int, _ plan: ChangePlan.Member, in live: LiveComposition, to after: LoadedManifest) {
        (self.index, self.plan) = (index, plan)
        old = plan.old.map { live.nodes[$0] }
        new = plan.new.map { [old] in live.makeNode(after.plan.nodes[$0], gate: old?.gate) }
        guard let node = new ?? old else { preconditionFailure("a member has an instance, or gets one") }
        self.node = node
        oldComponent = old?.running
    }

    var name: String { node.node.name }
    var gate: Gate { node.gate }

    var renaming: (from: String, to: String)? {
        guard let old, let new, new.node.role == .manager, old.node.name != new.node.name else { return nil }
        return (old.node.name, new.node.name)
    }
}

struct CallCounts: Hashable {
    var calls = 0
    var errors = 0

    static func - (a: CallCounts, b: CallCounts) -> CallCounts {
        CallCounts(calls: a.calls - b.calls, errors: a.errors - b.errors)
    }
}

/// State that has been exported by one instance for another.
enum ExportedState: Sendable {
    /// The Swift value itself, in the memory of the library that exported it.
    case native(StateValue)
    case encoded([UInt8])
}
