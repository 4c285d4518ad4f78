import Backplane

/// The calls that outlasted the drain of a change, which is repeated once they have ended.
struct OutlastingCalls {
    /// The bindings of the calls, removed from their slots.
    var bindings: Set<Binding> = []
    var graphs: Set<UInt64> = []
    /// The bodies of timers that outlasted the drain, by their numbers.
    var bodies: [(timers: ComponentTimers, numbers: Set<UInt64>)] = []
    var error: BackplaneError?
    /// The number of drains that calls have outlasted.
    var attempts = 0

    var callsInFlight: Int {
        Array(bindings).callsInFlight
            + bodies.reduce(0) { $0 + $1.numbers.intersection($1.timers.bodiesInFlight).count }
    }
}

/// The wait for calls that outlast a drain, with the gates open.
extension Change {
    /// The calls and graphs for which the change waits with open gates, as named by ``stillCalled(_:_:)``, or `nil` for
    /// none.
    var callsWaitedFor: String? { isOutlasted ? outlasting.error?.message : nil }

    private var isOutlasted: Bool {
        outlasting.callsInFlight > 0 || outlasting.graphs.contains(where: instances.graphs.isRunning)
    }

    /// Returns whether the change is to activate a generation.
    func isSwappingIn(_ entry: GenerationTable.Entry) -> Bool {
        report.plugins.contains { $0.plugin == entry.plugin && $0.toGeneration == entry.number }
    }

    /// Returns whether a failed action is repeated later, rather than failing the change.
    func postpones(_ action: ChangeAction, _ error: BackplaneError) -> Bool {
        guard case .drain = action, error.code == .swapHeld,
            case .retry(let attempts, let limit) = drainPolicy.fallback,
            outlasting.attempts < attempts, clock.moment - asked < limit, turns.onlyLookersWait
        else { return false }
        outlasting.attempts += 1
        outlasting.error = error
        return machine.postpone()
    }

    /// Opens the gates to the active instances, and separates the calls in flight from those that start now.
    func reopen() {
        for member in gated {
            guard let component = activeNode(member)?.callable else { continue }
            let opening = live.wires.open(component).opening
            outlasting.bindings.formUnion(opening.taken)
            report.callsHeld += opening.callsHeld
            report.longestWait = max(report.longestWait, opening.longestWait)
            outlasting.bodies.append((component.timers, component.timers.bodiesInFlight))
            outlasting.graphs.formUnion(instances.graphs.running(of: component.handle).map(\.number))
            // An instance that has not returned from `suspend` serves its timers once it is resumed.
            if activeNode(member)?.isResumedLater == false { component.timers.begin() }
        }
        guard let error = outlasting.error else { return }
        log(
            .warning, "a swap is waiting for long calls",
            ["calls": error.message, "attempt": "\(outlasting.attempts)"])
        reportProgress?(.waiting(for: error.message))
    }

    /// Waits until the calls that outlasted the drain have ended.
    ///
    /// - Throws: The error of the drain, once the time of the policy has passed, another change is requested, or a
    ///   component that is to change must start.
    func outlast() async throws(BackplaneError) {
        guard case .retry(_, let limit) = drainPolicy.fallback, let error = outlasting.error else { return }
        // The plan covers the components that were up; another component that must start should not wait that long.
        func isCutShort() -> Bool {
            live.isStopped || !turns.onlyLookersWait || !handover.waiting.isEmpty
        }
        // By polling: the end of a native call only lowers a count, since a signal would slow every call down.
        var isOver = false
        let isInTime = await clock.waits(until: asked + limit, every: .milliseconds(5)) {
            isOver = !isOutlasted
            return isOver || isCutShort()
        }
        if isOver {
            (outlasting.bindings, outlasting.bodies, outlasting.graphs) = ([], [], [])
            return
        }
        try live.requireRunning()
        guard isInTime else { throw error.while("the swap had waited for \(limit)") }
        let isChange = !turns.onlyLookersWait
        throw error.while(
            isChange ? "another change was requested" : "a component that the swap changes had to start")
    }
}

extension BackplaneError {
    /// Returns the error with the event that ended a wait prepended to the message.
    fileprivate func `while`(_ event: String) -> BackplaneError {
        var copy = self
        copy.message = "\(event) while \(message)"
        return copy
    }
}

/// The timers of the members, which fire in one instance at a time.
extension Change {
    /// Starts the timers of a gated member in the instance that callers now reach.
    func beginTimers(of member: ChangeMember) {
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
