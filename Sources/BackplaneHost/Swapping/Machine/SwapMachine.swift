import Backplane

/// The order of a swap's actions and of those that undo them, as a pure state machine.
///
/// The caller requests one action after another, and reports when each begins (``begin()``), after which it may have to
/// be undone, and when it fails. A failure before the gates open undoes everything that was started, in reverse order;
/// undoing actions are never abandoned, even if they fail.
struct SwapMachine {
    /// The properties of a changing component on which the order depends.
    struct Member: Hashable, Sendable {
        /// A Boolean value that indicates whether calls wait while the component changes.
        var isGated: Bool
        /// A Boolean value that indicates whether the old instance is running.
        var hasOld = true
        /// A Boolean value that indicates whether a new instance is created, which is the case except for removed
        /// components.
        var hasNew = true
        var carriesState = false
    }
    enum Outcome: Hashable, Sendable {
        case swapped
        /// The swap failed after this action, and everything is as before.
        case undone(after: SwapAction, BackplaneError)
        /// The new generation failed its probation.
        case rolledBack(BackplaneError)
    }

    private(set) var outcome: Outcome?
    /// The effect of the actions so far on the wires and the members' instances.
    private(set) var states: SwapStates
    private let members: [Member]
    /// A Boolean value that indicates whether instances that stay are reconfigured.
    private let reconfigures: Bool
    /// The actions still to be performed, in reverse order.
    private var script: [SwapAction]
    /// The actions that have started and may have to be undone.
    private var begun: [SwapAction] = []
    private var failure: Outcome?
    private var current: (action: SwapAction, progress: Progress)?

    /// The progress of the action that ``next()`` returned last.
    private enum Progress {
        case given, begun, done, failed
    }

    /// Creates the machine of a swap.
    ///
    /// - Parameter members: The changing components in order of creation, each after those that it calls.
    init(_ members: [Member], onProbation: Bool, reconfigures: Bool = false) {
        (self.members, self.reconfigures) = (members, reconfigures)
        states = SwapStates(members)
        script = Self.script(members, onProbation: onProbation, reconfigures: reconfigures).reversed()
    }

    /// Marks the current action as done and returns the next one; returns `nil` when the swap has ended.
    mutating func next() -> SwapAction? {
        finish()
        guard let action = script.popLast() else {
            outcome = outcome ?? failure ?? .swapped
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

    /// Marks the current action as having taken effect, so that a later failure counts as one after it.
    mutating func finish() {
        begin()
        guard let (action, progress) = current, progress == .begun else { return }
        current?.progress = .done
        states.finish(action)
    }

    /// A Boolean value that indicates whether the swap has failed and is being undone.
    var isTakingBack: Bool { failure != nil }

    /// A Boolean value that indicates whether the new generation is on probation.
    var isOnProbation: Bool {
        if case (.watch, .begun)? = current { true } else { false }
    }

    /// Postpones a drain that calls outlasted: callers are served again until those calls end, and then it is repeated.
    ///
    /// - Returns: Whether that is possible, which it is not while the swap is being undone.
    mutating func postpone() -> Bool {
        guard case (.drain, _)? = current, failure == nil else { return false }
        current?.progress = .done
        // From now on the gates are open, and there is nothing to release.
        begun.removeAll { $0 == .hold }
        script += [.drain, .hold, .outlast, .reopen]
        return true
    }

    /// Marks the current action as failed, and schedules the actions that undo the swap.
    mutating func failed(_ error: BackplaneError) {
        guard let action = current?.action else { return }
        current?.progress = .failed
        guard failure == nil else {
            // The old instance then continues with the state that it had.
            if case .restore(let member) = action { script.append(.resume(member)) }
            return
        }
        switch action {
        case .watch:
            failure = .rolledBack(error)
            script = Self.way(back: members, reconfigures: reconfigures).reversed()
        case .open, .retire:
            break  // the new generation serves
        default:
            failure = .undone(after: action, error)
            // The script is popped from its end, so that the action begun last is undone first.
            script = begun.compactMap(undoing)
        }
    }

    /// Returns the action that undoes one that has started, whether or not that one failed.
    private func undoing(_ action: SwapAction) -> SwapAction? {
        // An instance that did not become active has nothing to release.
        if case .activate(let member) = action, states.new[member] != .active { return nil }
        return action.undoing
    }

    private static func script(_ members: [Member], onProbation: Bool, reconfigures: Bool) -> [SwapAction] {
        let gated = members.indices.filter { members[$0].isGated }, made = members.indices.filter { members[$0].hasNew }
        let carried = gated.filter { members[$0].carriesState }
        var script = made.map(SwapAction.create) + made.filter { !members[$0].isGated }.map(SwapAction.activate)
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().filter { members[$0].hasOld }.map(SwapAction.suspend)
        script += carried.map(SwapAction.export) + carried.map(SwapAction.import)
        if reconfigures { script.append(.reconfigure) }
        script += [.flip] + gated.filter { members[$0].hasNew }.map(SwapAction.activate)
        if !gated.isEmpty { script.append(.open) }
        if onProbation { script.append(.watch) }
        return script + [.retire]
    }

    private static func way(back members: [Member], reconfigures: Bool) -> [SwapAction] {
        let gated = members.indices.filter { members[$0].isGated }, made = members.indices.filter { members[$0].hasNew }
        var script: [SwapAction] = gated.isEmpty ? [] : [.hold, .drain]
        script += gated.reversed().filter { members[$0].hasNew }.map(SwapAction.deactivate)
        // The instances of ungated members were never suspended.
        script += gated.filter { members[$0].hasOld }.map { members[$0].carriesState ? .restore($0) : .resume($0) }
        if reconfigures { script.append(.revert) }
        script.append(.flipBack)
        if !gated.isEmpty { script.append(.open) }
        return script + made.map(SwapAction.discard)
    }
}
