import Backplane

/// The timers of the members, which fire in one instance at a time.
extension SwapTransaction {
    /// Starts the timers of a gated member in the instance that callers now reach.
    func beginTimers(of member: SwapMember) {
        let isBack = machine.states.wires == .oldAgain
        let serving = isBack ? member.restored ?? member.oldComponent : member.component
        beginTimers(of: serving, continuing: isBack ? member.component : member.oldComponent)
    }

    /// Holds the timers of one instance, and starts those of another in phase with them.
    func beginTimers(of component: RunningComponent?, continuing earlier: RunningComponent?) {
        earlier?.timers.hold()
        guard let component else { return }
        let left = component.timers.begin(continuing: earlier?.timers)
        guard !left.isEmpty, machine.states.wires != .oldAgain else { return }
        let names = left.prefix(3).map { "`\($0)`" }.joined(separator: ", ")
        let more = left.count > 3 ? " and \(left.count - 3) more" : ""
        report.warnings.append(
            "\(component.name) did not add the timers \(names)\(more) again, although they had yet to fire; add them "
                + "in `init`, `importState` or `activate`"
        )
    }
}
