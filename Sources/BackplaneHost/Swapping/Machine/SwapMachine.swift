import Backplane

/// What a swap does next: a pure function of what it is to swap and of how it went so far.
///
/// Whoever performs the actions asks for one after the other and says how each ended. Up to the opening of the gates everything that
/// was begun is taken back when something fails, the last first; what takes back is not given up, however it ends.
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
    private let members: [Member]
    /// What is left to do, the next last.
    private var script: [SwapAction]
    /// What was begun and may have to be taken back.
    private var begun: [SwapAction] = []
    private var failure: Outcome?

    /// - Parameter members: in the order of creation: each after those that it calls.
    init(_ members: [Member], onProbation: Bool) {
        self.members = members
        script = Self.script(members, onProbation: onProbation).reversed()
    }

    /// What is to be done now; `nil`: it is over.
    mutating func next() -> SwapAction? {
        guard let action = script.popLast() else {
            outcome = outcome ?? failure ?? .swapped
            return nil
        }
        if failure == nil { begun.append(action) }
        return action
    }

    /// Something has failed: what is done now is done to its end.
    var isTakingBack: Bool { failure != nil }

    /// The action failed that ``next()`` gave last.
    mutating func failed(_ error: BackplaneError) {
        guard failure == nil, let action = begun.last else { return }
        switch action {
        case .watch:
            failure = .rolledBack(error)
            script = Self.way(back: members).reversed()
        case .open, .retire:
            break       // the new generation serves
        default:
            failure = .undone(after: action, error)
            // Popped from the end: what was begun last is taken back first.
            script = begun.compactMap(\.undoing)
        }
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
        script += all.filter { members[$0].hasOld }.map { members[$0].carriesState ? .restore($0) : .resume($0) }
        script.append(.flipBack)
        if !gated.isEmpty { script.append(.open) }
        return script + all.map(SwapAction.discard)
    }
}
