/// One thing that a swap does, to all its members or to the one of a number.
package enum SwapAction: Hashable, Sendable {
    /// Makes the new instance.
    case create(Int)
    /// Gates are held.
    case hold
    /// Calls under way end.
    case drain
    case suspend(Int)
    case export(Int)
    case `import`(Int)
    /// Wires lead to the new instances: those of gated members once their gates open.
    case flip
    case activate(Int)
    /// Gates are opened.
    case open
    /// The new instances are watched.
    case watch
    /// The old instances are given up.
    case retire

    // What undoes these.

    case discard(Int)
    /// A new instance gives up what it took.
    case deactivate(Int)
    case unflip
    case resume(Int)
    case release

    // What takes a generation back that failed its probation, besides these.

    /// The old instance's successor hands its state back, to a new instance of the old code.
    case restore(Int)
    /// Wires lead to the old generation again.
    case flipBack
}

extension SwapAction {
    /// The step that it belongs to.
    package var step: SwapStep {
        switch self {
        case .create, .discard: .prepare
        case .hold, .drain, .release: .quiesce
        case .suspend, .resume: .suspend
        case .export: .export
        case .import: .import
        case .flip, .unflip: .flip
        case .activate, .deactivate, .open: .activate
        case .watch, .restore, .flipBack: .probation
        case .retire: .commit
        }
    }

    /// Is it given up when something goes wrong? What takes back is done to its end, and so is what comes once the new code serves.
    var canFail: Bool {
        switch self {
        case .create, .hold, .drain, .suspend, .export, .import, .flip, .activate, .watch: true
        case .open, .retire, .discard, .deactivate, .unflip, .resume, .release, .restore, .flipBack: false
        }
    }

    /// What takes it back once it was begun; `nil`: nothing has to.
    var undoing: SwapAction? {
        switch self {
        case .create(let member): .discard(member)
        case .hold: .release
        case .suspend(let member): .resume(member)
        case .flip: .unflip
        case .activate(let member): .deactivate(member)
        default: nil
        }
    }
}
