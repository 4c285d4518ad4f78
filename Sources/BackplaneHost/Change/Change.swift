import Backplane

/// A function that receives the progress of a long change.
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
/// It belongs to the host's serial domain, as does everything that it uses.
final class Change {
    let options: ChangeOptions
    /// The members in order of creation.
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
    /// The reconfiguration of the instances that stay.
    let configurations: Reconfiguration
    /// The errors of data access controllers that would start without their existing data.
    var leftBehind: [BackplaneError] = []
    /// The number of wires that had been made when the change was drafted.
    var wiresAtDraft = 0
    /// The ids of changing nodes that are not running.
    private let dormant: Set<Int>

    init(
        _ members: [ChangeMember], _ plan: ChangePlan, from before: LoadedManifest, to after: LoadedManifest,
        _ options: ChangeOptions, asked: Deadline, _ stopper: Stopper, _ turns: Turns
    ) {
        (self.members, self.plan, self.before, self.after) = (members, plan, before, after)
        (self.options, self.asked, self.stopper, self.turns) = (options, asked, stopper, turns)
        (incoming, outgoing) = (after.plugins(besides: before), before.plugins(besides: after))
        live = stopper.live
        nodes = live.nodes
        configurations = Reconfiguration(
            plan.reconfigured, keeping: plan.kept, to: after.plan, stopper.instances)
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
            log(.error, "change failed, the old code keeps running", error)
            throw failure(after: action, error)
        case .rolledBack(let error):
            (report.outcome, report.failure) = (.rolledBack, error.shown)
            report.managers = ManagerChanges(kept: up)
            live.takeOut(incoming, afterProbation: true)
            log(.error, "rolled back", error)
            handover.withheld = []
            await start(interrupted.filter { live.loaded.plan.managers[$0] != nil }.sorted())
        default:
            log(.info, report.plugins.isEmpty ? "changed" : "swapped", nil)
            logSlowerWires()
            for error in await configurations.finish() { report.warnings.append(error.message) }
            if starter.hasStartedAll { await start(possible) }
            report.managers = managerChanges(from: up, to: live.managersUp)
        }
        return report
    }

    private func perform(_ action: ChangeAction) async throws(BackplaneError) {
        // Callers may have come while the change waited for long calls.
        if action == .flip { try requireService() }
        // A member begins to be suspended only when its calls have ended.
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
        case .reconfigure: try await configurations.perform()
        case .flip: flip()
        case .activate(let index): try await activate(members[index])
        case .open: open()
        case .watch: try await watch()
        case .retire: await retire()
        case .discard(let index): await discard(members[index])
        case .deactivate(let index): await deactivate(members[index])
        case .unflip: unflip()
        case .revert: await configurations.revert()
        case .resume(let index): await resume(members[index])
        case .release: release()
        case .restore(let index): try await restore(members[index])
        case .flipBack: await flipBack()
        }
    }

    /// A Boolean value that indicates whether another manifest becomes active.
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

    /// The names of the eager managers that are not running, and that the change may have made possible.
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

// MARK: Reporting

extension Change {
    /// Records the time that a step took.
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

    /// The metadata of log messages about the change: of each plugin, or else of the manifest.
    var subjects: [[String: String]] {
        guard !report.plugins.isEmpty else { return [["manifest": after.document.path ?? "of the program"]] }
        return report.plugins.map { plugin in
            ["plugin": plugin.plugin, "generation": "\(plugin.toGeneration)", "version": "\(plugin.toVersion)"]
        }
    }

    private func log(_ level: Log.Level, _ message: String, _ error: BackplaneError?) {
        guard live.options.log.isEnabled(level) else { return }
        for var metadata in subjects {
            metadata["error"] = error?.description
            live.options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
        }
    }
}

extension Change {
    /// Logs each wire that the change moved from the native to a slower lane, which callers would otherwise not notice.
    private func logSlowerWires() {
        guard live.options.log.isEnabled(.warning) else { return }
        for wire in report.wires where wire.fromLane == "native" && wire.toLane != wire.fromLane {
            var metadata = [
                "user": wire.user ?? "the host program", "wire": wire.label, "provider": wire.provider,
                "lane": wire.toLane,
            ]
            metadata["reason"] = wire.reason
            let record = LogRecord(
                level: .warning, source: "host", message: "calls through a wire are slower since the swap",
                metadata: metadata
            )
            live.options.log.write(record)
        }
    }
}

extension Duration {
    /// The duration in milliseconds, as printed in reports.
    package var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}

/// A component that changes, with its results so far; its progress is tracked by the machine.
final class ChangeMember {
    /// The member's number in the machine.
    let index: Int
    let plan: ChangePlan.Member
    /// The node that was active before, or `nil` if there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The plugin whose code runs in the old instance.
    let oldPlugin: LoadedPlugin?
    /// The node of the new instance, or `nil` if the component is removed.
    let new: LiveNode?
    let newPlugin: LoadedPlugin?
    /// The new node, or that of a removed component.
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
    /// The instance of the returning node.
    var restored: RunningComponent?
    /// The call counts of the component when the new instance started to serve.
    var baseline = CallCounts()

    /// Creates the member for a component with a new instance.
    init(
        _ index: Int, _ plan: ChangePlan.Member, old: LiveNode?, _ oldPlugin: LoadedPlugin?, new: LiveNode,
        _ newPlugin: LoadedPlugin
    ) {
        (self.index, self.plan, self.old, self.oldPlugin) = (index, plan, old, oldPlugin)
        (self.new, self.newPlugin, node) = (new, newPlugin, new)
        oldComponent = old?.running
    }

    /// Creates the member for a component that is removed.
    init(_ index: Int, _ plan: ChangePlan.Member, removing old: LiveNode, _ oldPlugin: LoadedPlugin) {
        (self.index, self.plan, self.old, self.oldPlugin) = (index, plan, old, oldPlugin)
        (new, newPlugin, node) = (nil, nil, old)
        oldComponent = old.running
    }

    var name: String { node.node.name }
    var gate: Gate { node.gate }

    /// The names, before and after, of a manager that the change renames.
    var renaming: (from: String, to: String)? {
        guard let old, let new, new.node.role == .manager, old.node.name != new.node.name else { return nil }
        return (old.node.name, new.node.name)
    }
}

/// The numbers of completed and of failed calls.
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
