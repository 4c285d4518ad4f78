/// One action of a swap, on all its members or on the member with the given number.
package enum SwapAction: Hashable, Sendable {
    /// The creation of the new instance.
    case create(Int)
    /// The closing of the gates, at which calls then wait.
    case hold
    /// The wait for calls in flight to end.
    case drain
    /// The opening of the gates to the old instances, because calls outlasted the drain.
    case reopen
    /// The wait for those calls to end, after which calls are held and drained again.
    case outlast
    case suspend(Int)
    case export(Int)
    case `import`(Int)
    /// The reconfiguration of the instances that stay.
    case reconfigure
    /// The switch of wires to the new instances; for gated members, once their gates open.
    case flip
    case activate(Int)
    /// The opening of the gates.
    case open
    /// The observation of the new instances during their probation.
    case watch
    /// The retirement of the old instances.
    case retire

    // The actions that undo those above.

    case discard(Int)
    /// The release of everything that a new instance acquired.
    case deactivate(Int)
    case unflip
    /// The restoration of the former configuration of the instances that stay.
    case revert
    case resume(Int)
    case release

    // The further actions that roll back a generation which failed its probation.

    /// The transfer of the newer state back, to a new instance of the old code.
    case restore(Int)
    /// The switch of wires back to the old generation.
    case flipBack
}

extension SwapAction {
    /// The step to which the action belongs.
    package var step: SwapStep {
        switch self {
        case .create, .discard: .prepare
        case .hold, .drain, .reopen, .outlast, .release: .quiesce
        case .suspend, .resume: .suspend
        case .export: .export
        case .import: .import
        case .reconfigure, .revert, .flip, .unflip: .flip
        case .activate, .deactivate, .open: .activate
        case .watch, .restore, .flipBack: .probation
        case .retire: .commit
        }
    }

    /// A Boolean value that indicates whether a failure of the action fails the swap.
    ///
    /// Undoing actions do not, nor do actions after the new code serves callers.
    var canFail: Bool {
        switch self {
        case .create, .hold, .drain, .outlast, .suspend, .export, .import, .reconfigure, .flip, .activate, .watch: true
        case .reopen, .open, .retire, .discard, .deactivate, .unflip, .revert, .resume, .release, .restore, .flipBack:
            false
        }
    }

    /// The action that undoes this one once it has started, or `nil` if none is needed.
    var undoing: SwapAction? {
        switch self {
        case .create(let member): .discard(member)
        case .hold: .release
        case .suspend(let member): .resume(member)
        case .reconfigure: .revert
        case .flip: .unflip
        case .activate(let member): .deactivate(member)
        default: nil
        }
    }
}
