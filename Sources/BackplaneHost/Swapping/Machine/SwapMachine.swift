import Backplane

/// The order of a swap's actions and of those that undo them, as a pure state machine.
///
/// The caller asks for one action after the other, and reports when each begins (``begin()``: from then on it may have
/// to be undone) and when it fails. A failure before the gates open undoes everything that was begun, in reverse order;
/// undoing actions are never abandoned, even if they fail.
struct SwapMachine {
    /// The properties of a changing component that the order depends on.
    struct Member: Hashable, Sendable {
        /// A Boolean value that indicates whether calls wait while the component changes.
        var isGated: Bool
        /// A Boolean value that indicates whether the old instance is up.
        var hasOld = true
        var carriesState = false
    }
    enum Outcome: Hashable, Sendable {
        case swapped
        /// The swap failed after this action, and everything is as it was before.
        case undone(after: SwapAction, BackplaneError)
        /// The new generation failed its probation.
        case rolledBack(BackplaneError)
    }

    private(set) var outcome: Outcome?
    /// The effect of the actions so far on the wires and the members' instances.
    private(set) var states: SwapStates
    private let members: [Member]
    /// The actions still to be performed, the next one last.
    private var script: [SwapAction]
    /// The actions that were begun and may have to be undone.
    private var begun: [SwapAction] = []
    private var failure: Outcome?
    private var current: (action: SwapAction, progress: Progress)?

    /// The progress of the action that ``next()`` returned last.
    private enum Progress {
        case given, begun, done, failed
    }

    /// Creates the machine of a swap.
    ///
    /// - Parameter members: The changing components in order of creation: each after those that it calls.
    init(_ members: [Member], onProbation: Bool) {
        self.members = members
        states = SwapStates(members)
        script = Self.script(members, onProbation: onProbation).reversed()
    }

    /// Marks the current action as done and returns the next one, or `nil` when the swap is over.
    mutating func next() -> SwapAction? {
        finish()
        guard let action = script.popLast() else {
            outcome = outcome ?? failure ?? .swapped
            return nil
        }
        current = (action, .given)
        return action
    }

    /// Marks the current action as begun, which it remains even if it fails.
    mutating func begin() {
        guard let (action, progress) = current, progress == .given else { return }
        current?.progress = .begun
        if failure == nil { begun.append(action) }
        states.begin(action)
    }

    /// Marks the current action as having had its effect: a later failure counts as one after it.
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
            script = Self.way(back: members).reversed()
        case .open, .retire:
            break  // the new generation serves
        default:
            failure = .undone(after: action, error)
            // The script is popped from its end, so that the action begun last is undone first.
            script = begun.compactMap(undoing)
        }
    }

    /// Returns the action that undoes one that was begun, whether or not that one failed.
    private func undoing(_ action: SwapAction) -> SwapAction? {
        // An instance that did not become active has nothing to release.
        if case .activate(let member) = action, states.new[member] != .active { return nil }
        return action.undoing
    }

    private static func script(_ members: [Member], onProbation: Bool) -> [SwapAction] {
        let all = members.indices, gated = all.filter { members[$0].isGated },
            ungated = all.filter { !members[$0].isGated }
        let carried = gated.filter { members[$0].carriesState }
        var script = all.map(SwapAction.create) + ungated.map(SwapAction.activate)
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().filter { members[$0].hasOld }.map(SwapAction.suspend)
        script +=
            carried.map(SwapAction.export) + carried.map(SwapAction.import) + [.flip] + gated.map(SwapAction.activate)
        if !gated.isEmpty { script.append(.open) }
        if onProbation { script.append(.watch) }
        return script + [.retire]
    }

    private static func way(back members: [Member]) -> [SwapAction] {
        let all = members.indices, gated = all.filter { members[$0].isGated }
        var script: [SwapAction] = []
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().map(SwapAction.deactivate)
        // The instances of ungated members were never suspended.
        script += gated.filter { members[$0].hasOld }.map { members[$0].carriesState ? .restore($0) : .resume($0) }
        script.append(.flipBack)
        if !gated.isEmpty { script.append(.open) }
        return script + all.map(SwapAction.discard)
    }
}
