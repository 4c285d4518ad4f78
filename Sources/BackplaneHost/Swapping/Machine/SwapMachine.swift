import Backplane

/// The order of a swap's actions, and of those that take them back: a pure function of its members and of what failed so far.
///
/// Whoever performs the actions asks for one after the other, says of each when it begins (``begin()``: from then on it may have to be
/// taken back) and when it failed. Up to the opening of the gates everything that was begun is taken back when something fails, the last
/// first; what takes back is not given up, however it ends.
struct SwapMachine {
    /// What the machine has to know of a component that changes.
    struct Member: Hashable, Sendable {
        /// Calls wait while it changes.
        var isGated: Bool
        /// The old instance is up.
        var hasOld = true
        var carriesState = false
    }
    enum Outcome: Hashable, Sendable {
        case swapped
        /// Everything is as it was.
        case undone(after: SwapAction, BackplaneError)
        /// It failed its probation.
        case rolledBack(BackplaneError)
    }

    private(set) var outcome: Outcome?
    /// Where wires lead, and how far each member's instances are.
    private(set) var states: SwapStates
    private let members: [Member]
    /// What is left to do, the next last.
    private var script: [SwapAction]
    /// What was begun and may have to be taken back.
    private var begun: [SwapAction] = []
    private var failure: Outcome?
    private var current: (action: SwapAction, progress: Progress)?

    /// How far the action is that ``next()`` gave last.
    private enum Progress {
        case given, begun, done, failed
    }

    /// - Parameter members: in the order of creation: each after those that it calls.
    init(_ members: [Member], onProbation: Bool) {
        self.members = members
        states = SwapStates(members)
        script = Self.script(members, onProbation: onProbation).reversed()
    }

    /// What is to be done now, the action before having been done; `nil`: it is over.
    mutating func next() -> SwapAction? {
        finish()
        guard let action = script.popLast() else {
            outcome = outcome ?? failure ?? .swapped
            return nil
        }
        current = (action, .given)
        return action
    }

    /// The action that ``next()`` gave last begins: it counts as begun even if it fails.
    mutating func begin() {
        guard let (action, progress) = current, progress == .given else { return }
        current?.progress = .begun
        if failure == nil { begun.append(action) }
        states.begin(action)
    }

    /// The same action has done what it is for: what fails now fails after it.
    mutating func finish() {
        begin()
        guard let (action, progress) = current, progress == .begun else { return }
        current?.progress = .done
        states.finish(action)
    }

    /// Something has failed: what is done now is done to its end.
    var isTakingBack: Bool { failure != nil }

    /// The new generation proves itself.
    var isOnProbation: Bool {
        if case (.watch, .begun)? = current { true } else { false }
    }

    /// The action failed that ``next()`` gave last.
    mutating func failed(_ error: BackplaneError) {
        guard let action = current?.action else { return }
        current?.progress = .failed
        guard failure == nil else {
            // Its old instance then goes on from where it was.
            if case .restore(let member) = action { script.append(.resume(member)) }
            return
        }
        switch action {
        case .watch:
            failure = .rolledBack(error)
            script = Self.way(back: members).reversed()
        case .open, .retire:
            break       // the new generation serves
        default:
            failure = .undone(after: action, error)
            // Popped from the end: what was begun last is taken back first.
            script = begun.compactMap(undoing)
        }
    }

    /// What takes an action back that was begun, and perhaps failed.
    private func undoing(_ action: SwapAction) -> SwapAction? {
        // One that did not become active has nothing to give up.
        if case .activate(let member) = action, states.new[member] != .active { return nil }
        return action.undoing
    }

    private static func script(_ members: [Member], onProbation: Bool) -> [SwapAction] {
        let all = members.indices, gated = all.filter { members[$0].isGated }, ungated = all.filter { !members[$0].isGated }
        let carried = gated.filter { members[$0].carriesState }
        var script = all.map(SwapAction.create) + ungated.map(SwapAction.activate)
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().filter { members[$0].hasOld }.map(SwapAction.suspend)
        script += carried.map(SwapAction.export) + carried.map(SwapAction.import) + [.flip] + gated.map(SwapAction.activate)
        if !gated.isEmpty { script.append(.open) }
        if onProbation { script.append(.watch) }
        return script + [.retire]
    }

    private static func way(back members: [Member]) -> [SwapAction] {
        let all = members.indices, gated = all.filter { members[$0].isGated }
        var script: [SwapAction] = []
        if !gated.isEmpty { script += [.hold, .drain] }
        script += gated.reversed().map(SwapAction.deactivate)
        // The others were never suspended.
        script += gated.filter { members[$0].hasOld }.map { members[$0].carriesState ? .restore($0) : .resume($0) }
        script.append(.flipBack)
        if !gated.isEmpty { script.append(.open) }
        return script + all.map(SwapAction.discard)
    }
}
