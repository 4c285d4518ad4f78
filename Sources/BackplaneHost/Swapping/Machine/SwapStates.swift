/// Where wires lead during a swap, and how far each member's instances are: what the actions come to that were begun and done.
struct SwapStates: Hashable, Sendable {
    enum Wires: Hashable, Sendable {
        /// To the old instances.
        case old
        /// To the new ones as soon as the gates open.
        case newOnceOpen
        case new
        /// To the old ones again, or as soon as the gates open, after a probation that failed.
        case oldAgain
    }
    enum OldInstance: Hashable, Sendable {
        case none
        case up
        /// It was asked to give up what is exclusive.
        case suspended
        /// A new instance of the same code has the newer state.
        case replaced
    }
    enum NewInstance: Hashable, Sendable {
        case none
        case beingMade
        case made
        /// It was asked to take what it takes, and has not said that it did.
        case activating
        case active
        /// It was asked to give that up again.
        case deactivated
        case discarded

        /// It was asked to take what it takes, however that went on.
        var wasToBeActive: Bool {
            switch self {
            case .activating, .active, .deactivated: true
            case .none, .beingMade, .made, .discarded: false
            }
        }
    }
    private(set) var wires = Wires.old
    /// By the numbers of their members.
    private(set) var old: [OldInstance]
    private(set) var new: [NewInstance]
    private let isGated: Bool

    init(_ members: [SwapMachine.Member]) {
        old = members.map { $0.hasOld ? .up : .none }
        new = members.map { _ in .none }
        isGated = members.contains(where: \.isGated)
    }

    /// An action begins: this holds even if it fails.
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
        case .hold, .drain, .export, .import, .watch, .retire, .discard, .release, .restore: break
        }
    }

    /// It has done what it is for.
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
