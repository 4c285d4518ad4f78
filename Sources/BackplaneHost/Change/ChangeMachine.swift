import Backplane

/// A pure state machine that orders the actions of a change and the actions that undo them.
///
/// The caller requests one action after another. It reports when an action begins (``begin()``), after which the action
/// may have to be undone, and when it fails. A failure before the gates open undoes everything that was started, in
/// reverse order. Undoing actions are never abandoned, even if they fail.
struct ChangeMachine {
    /// The properties of a changing component on which the order depends.
    struct Member: Hashable, Sendable {
        /// Whether calls wait while the component changes.
        var isGated: Bool
        /// Whether the old instance is running.
        var hasOld = true
        /// Whether a new instance is created, as for all but removed components.
        var hasNew = true
        var carriesState = false
    }
    enum Outcome: Hashable, Sendable {
        case changed
        /// The change failed after this action, and everything is as before.
        case undone(after: ChangeAction, BackplaneError)
        /// The new generation failed its probation.
        case rolledBack(BackplaneError)
    }

    private(set) var outcome: Outcome?
    /// The effect of the actions so far on the wires and the members' instances.
    private(set) var states: ChangeStates
    private let members: [Member]
    /// Whether instances that stay are reconfigured.
    private let reconfigures: Bool
    /// The actions still to be performed, in reverse order.
    private var script: [ChangeAction] = []
    /// The actions that have started and may have to be undone.
    private var begun: [ChangeAction] = []
    private var failure: Outcome?
    private var current: (action: ChangeAction, progress: Progress)?

    /// The progress of the action that ``next()`` returned last.
    private enum Progress {
        case given, begun, ended
    }

    /// Creates the machine of a change.
    ///
    /// - Parameter members: The changing components in order of creation, each after the components that it calls.
    init(_ members: [Member], onProbation: Bool, reconfigures: Bool = false) {
        (self.members, self.reconfigures) = (members, reconfigures)
        states = ChangeStates(members)
        script = wayForward(onProbation: onProbation).reversed()
    }

    /// Marks the current action as done and returns the next one; returns `nil` when the change has ended.
    mutating func next() -> ChangeAction? {
        finish()
        guard let action = script.popLast() else {
            outcome = outcome ?? failure ?? .changed
            return nil
        }
        current = (action, .given)
        return action
    }

    /// Marks the current action as started, even if it fails.
    mutating func begin() {
        guard let (action, progress) = current, progress == .given else { return }
        current?.progress = .begun
        if failure == nil { begun.append(action) }
        states.begin(action)
    }

    /// Marks the current action as complete, so that a later failure counts as a failure after it.
    mutating func finish() {
        begin()
        guard let (action, progress) = current, progress == .begun else { return }
        current?.progress = .ended
        states.finish(action)
    }

    var isTakingBack: Bool { failure != nil }

    var isOnProbation: Bool {
        if case (.watch, .begun)? = current { true } else { false }
    }

    /// Postpones a drain that calls outlasted: callers are served until those calls end, and the drain is repeated.
    ///
    /// - Returns: Whether the drain was postponed; `false` while the change is being undone.
    mutating func postpone() -> Bool {
        guard case (.drain, _)? = current, failure == nil else { return false }
        current?.progress = .ended
        // From now on the gates are open, and there is nothing to release.
        begun.removeAll { $0 == .hold }
        script += [.drain, .hold, .outlast, .reopen]
        return true
    }

    /// Marks the current action as failed, and schedules the actions that undo the change.
    mutating func failed(_ error: BackplaneError) {
        guard let action = current?.action else { return }
        current?.progress = .ended
        guard failure == nil else {
            // The old instance then continues with the state that it had.
            if case .restore(let member) = action { script.append(.resume(member)) }
            return
        }
        switch action {
        case .watch:
            failure = .rolledBack(error)
            script = wayBack.reversed()
        case .open, .retire:
            break  // the new generation serves
        default:
            failure = .undone(after: action, error)
            // The script is popped from its end, so that the action begun last is undone first.
            script = begun.compactMap(undoing)
        }
    }

    /// Returns the action that undoes a started action, even if the started action failed.
    private func undoing(_ action: ChangeAction) -> ChangeAction? {
        // An instance that did not become active has nothing to release.
        if case .activate(let member) = action, states.new[member] != .active { return nil }
        return action.undoing
    }

    private var gated: [Int] { members.indices.filter { members[$0].isGated } }

    private var made: [Int] { members.indices.filter { members[$0].hasNew } }

    private func wayForward(onProbation: Bool) -> [ChangeAction] {
        let carried = gated.filter { members[$0].carriesState }
        var script = made.map(ChangeAction.create) + made.filter { !members[$0].isGated }.map(ChangeAction.activate)
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().filter { members[$0].hasOld }.map(ChangeAction.suspend)
        script += carried.map(ChangeAction.export) + carried.map(ChangeAction.import)
        if reconfigures { script.append(.reconfigure) }
        script += [.flip] + gated.filter { members[$0].hasNew }.map(ChangeAction.activate)
        if !gated.isEmpty { script.append(.open) }
        if onProbation { script.append(.watch) }
        return script + [.retire]
    }

    private var wayBack: [ChangeAction] {
        var script: [ChangeAction] = gated.isEmpty ? [] : [.hold, .drain]
        script += gated.reversed().filter { members[$0].hasNew }.map(ChangeAction.deactivate)
        // The instances of ungated members were never suspended.
        script += gated.filter { members[$0].hasOld }.map { members[$0].carriesState ? .restore($0) : .resume($0) }
        if reconfigures { script.append(.revert) }
        script.append(.flipBack)
        if !gated.isEmpty { script.append(.open) }
        return script + made.map(ChangeAction.discard)
    }
}

/// The states of the wires and of each member's instances during a change, as a result of the actions so far.
struct ChangeStates: Hashable, Sendable {
    enum Wires: Hashable, Sendable {
        /// Wires are connected to the old instances.
        case old
        /// Wires will be connected to the new instances as soon as the gates open.
        case newOnceOpen
        /// Wires are connected to the new instances.
        case new
        /// Wires are connected to the old instances again after a failed probation, or will be once the gates open.
        case oldAgain
    }
    enum OldInstance: Hashable, Sendable {
        case none
        case up
        /// The instance was requested to release exclusive resources.
        case suspended
        /// A new instance of the same code has the newer state.
        case replaced
    }
    enum NewInstance: Hashable, Sendable {
        case none
        case beingMade
        case made
        /// The instance was requested to acquire exclusive resources, and has not yet succeeded.
        case activating
        case active
        /// The instance was requested to release its exclusive resources again.
        case deactivated
        case discarded

        /// Whether the instance was ever requested to acquire exclusive resources.
        var wasToBeActive: Bool {
            switch self {
            case .activating, .active, .deactivated: true
            case .none, .beingMade, .made, .discarded: false
            }
        }
    }
    private(set) var wires = Wires.old
    private(set) var old: [OldInstance]
    private(set) var new: [NewInstance]
    private let isGated: Bool

    init(_ members: [ChangeMachine.Member]) {
        old = members.map { $0.hasOld ? .up : .none }
        new = members.map { _ in .none }
        isGated = members.contains(where: \.isGated)
    }

    /// Records that an action begins, which remains true even if it fails.
    mutating func begin(_ action: ChangeAction) {
        switch action {
        case .create(let member): new[member] = .beingMade
        case .suspend(let member): old[member] = .suspended
        case .flip: wires = isGated ? .newOnceOpen : .new
        case .activate(let member): new[member] = .activating
        case .open: if wires == .newOnceOpen { wires = .new }
        case .deactivate(let member): new[member] = .deactivated
        case .unflip: wires = .old
        case .resume(let member): old[member] = .up
        case .flipBack: wires = .oldAgain
        default: break
        }
    }

    /// Records that an action has taken effect.
    mutating func finish(_ action: ChangeAction) {
        switch action {
        case .create(let member): new[member] = .made
        case .activate(let member): new[member] = .active
        case .discard(let member): new[member] = .discarded
        case .restore(let member): old[member] = .replaced
        default: break
        }
    }
}

/// One action of a change, on all its members or on the member with the given number.
package enum ChangeAction: Hashable, Sendable {
    case create(Int)
    /// The closing of the gates, at which calls then wait.
    case hold
    /// The wait for calls in flight to end.
    case drain
    /// The opening of the gates to the old instances, because calls outlasted the drain.
    case reopen
    /// The wait for the calls that outlasted the drain to end; then calls are held and drained again.
    case outlast
    case suspend(Int)
    case export(Int)
    case `import`(Int)
    case reconfigure
    /// The switch of wires to the new instances; for gated members, once their gates open.
    case flip
    case activate(Int)
    case open
    /// The observation of the new instances during their probation.
    case watch
    case retire

    // The actions that undo the actions above.

    case discard(Int)
    /// The release of everything that a new instance acquired.
    case deactivate(Int)
    case unflip
    /// The restoration of the former configuration of the instances that stay.
    case revert
    case resume(Int)
    case release

    // The additional actions that roll back a generation after a failed probation.

    /// The transfer of the newer state back, to a new instance of the old code.
    case restore(Int)
    /// The switch of wires back to the old generation.
    case flipBack
}

extension ChangeAction {
    /// The action's step, whether its failure fails the change, and the action that undoes it once it has started.
    ///
    /// Undoing actions, and actions after the new code serves callers, do not fail a change.
    private var rule: (step: ChangeStep, canFail: Bool, undoing: ChangeAction?) {
        switch self {
        case .create(let member): (.prepare, true, .discard(member))
        case .hold: (.quiesce, true, .release)
        case .drain, .outlast: (.quiesce, true, nil)
        case .reopen: (.quiesce, false, nil)
        case .suspend(let member): (.suspend, true, .resume(member))
        case .export: (.export, true, nil)
        case .import: (.import, true, nil)
        case .reconfigure: (.flip, true, .revert)
        case .flip: (.flip, true, .unflip)
        case .activate(let member): (.activate, true, .deactivate(member))
        case .open: (.activate, false, nil)
        case .watch: (.probation, true, nil)
        case .retire: (.commit, false, nil)
        case .discard: (.prepare, false, nil)
        case .release: (.quiesce, false, nil)
        case .resume: (.suspend, false, nil)
        case .unflip, .revert: (.flip, false, nil)
        case .deactivate: (.activate, false, nil)
        case .restore, .flipBack: (.probation, false, nil)
        }
    }

    package var step: ChangeStep { rule.step }

    var canFail: Bool { rule.canFail }

    var undoing: ChangeAction? { rule.undoing }
}

/// The steps of a change, in order.
public enum ChangeStep: String, Codable, Sendable, Hashable, CaseIterable {
    /// Libraries are loaded and checked, and the new instances created.
    case prepare
    /// New calls wait, and calls in flight end.
    case quiesce
    /// The old instances release exclusive resources and become quiescent.
    case suspend
    /// The old instances export their state.
    case export
    /// The new instances import the state.
    case `import`
    /// Instances that stay are reconfigured, and wires are connected to the new instances.
    case flip
    /// The new instances acquire exclusive resources; then the waiting calls continue.
    case activate
    /// The new instances are observed, and the old ones are kept in case they fail.
    case probation
    /// The old instances are retired.
    case commit
}
