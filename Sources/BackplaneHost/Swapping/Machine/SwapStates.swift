/// The states of the wires and of each member's instances during a swap, as a result of the actions so far.
struct SwapStates: Hashable, Sendable {
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
        /// The instance was requested to release those resources again.
        case deactivated
        case discarded

        /// A Boolean value that indicates whether the instance was ever requested to acquire exclusive resources.
        var wasToBeActive: Bool {
            switch self {
            case .activating, .active, .deactivated: true
            case .none, .beingMade, .made, .discarded: false
            }
        }
    }
    private(set) var wires = Wires.old
    /// The states of the old instances, by member number.
    private(set) var old: [OldInstance]
    /// The states of the new instances, by member number.
    private(set) var new: [NewInstance]
    private let isGated: Bool

    init(_ members: [SwapMachine.Member]) {
        old = members.map { $0.hasOld ? .up : .none }
        new = members.map { _ in .none }
        isGated = members.contains(where: \.isGated)
    }

    /// Records that an action begins, which remains true even if it fails.
    mutating func begin(_ action: SwapAction) {
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
        case .hold, .drain, .reopen, .outlast, .export, .import, .reconfigure, .revert, .watch, .retire, .discard,
            .release, .restore:
            break
        }
    }

    /// Records that an action has taken effect.
    mutating func finish(_ action: SwapAction) {
        switch action {
        case .create(let member): new[member] = .made
        case .activate(let member): new[member] = .active
        case .discard(let member): new[member] = .discarded
        case .restore(let member): old[member] = .replaced
        default: break
        }
    }
}
