import Backplane
import Synchronization

/// The slots of all callers of one component, opened and closed together, and the calls that find them closed.
package final class Gate: Gatekeeper {
    enum Phase {
        case open
        /// New calls wait.
        case held(Hold)
        /// Calls are refused with this error until the gate is opened again.
        case refusing(BackplaneError)
        /// Calls are permanently refused with this error.
        case closed(BackplaneError)
    }
    /// The state of a gate at which calls wait.
    struct Hold {
        /// A Boolean value that indicates whether synchronous calls are still admitted to the current binding.
        var letsAside: Bool
        /// The components whose calls are refused instead of held.
        let leaving: LeavingComponents?
        /// The numbers of the components whose calls are admitted to the next bindings.
        var successors: Set<UInt16> = []
        /// The waiting calls, in order of arrival.
        var waiting: [Waiting] = []
    }
    struct Waiting {
        let id: UInt64
        let slot: Slot
        let call: Call
        let since: Deadline
        let done: @Sendable (Admission) -> Void
    }
    struct State {
        var phase = Phase.open
        var slots: [GateSlot] = []
        /// The bindings that were taken out of their slots and may still have calls in flight.
        var retired: [Binding] = []
        /// The retired bindings for which another part of the host waits.
        var disowned: [Binding] = []
        /// A Boolean value that indicates whether the contents of the slots at the next opening have been decided.
        var isLed = false
        /// The number of calls that started on bindings that have since drained.
        var callsEnded = 0
        /// The number of failed calls in instances that have since ended.
        var failuresEnded = 0
        /// The last error of such an instance.
        var lastFailureEnded: FailureStatistics?
        /// The numbers of the components for which the one behind the closed gate waits.
        ///
        /// Calls that come through them are admitted to the current binding.
        var passage: Set<UInt16> = []

        /// The state of held calls, or `nil` if calls do not wait.
        var hold: Hold? { if case .held(let hold) = phase { hold } else { nil } }

        /// Changes the state of held calls, or returns `nil` if calls do not wait.
        mutating func withHold<Result>(_ body: (inout Hold) -> Result) -> Result? {
            guard case .held(var hold) = phase else { return nil }
            phase = .open  // so that `hold` alone refers to the waiting calls, and changing them copies nothing
            defer { phase = .held(hold) }
            return body(&hold)
        }
    }
    let clock: any HostClock
    /// The maximum number of waiting calls; additional ones fail immediately.
    let waitingLimit: Int
    let state = Mutex(State())

    init(clock: any HostClock, waitingLimit: Int = .max) {
        (self.clock, self.waitingLimit) = (clock, waitingLimit)
    }

    func deliver(_ admissions: [(Waiting, Admission)]) {
        for (waiting, admission) in admissions {
            clock.cancel(waiting.id)
            waiting.done(admission)
        }
    }
}

// MARK: Counts

extension Gate {
    /// The number of calls in flight, not including those admitted while the gate was not open.
    var callsInFlight: Int {
        state.withLock { state in
            state.slots.reduce(state.retired.callsInFlight) { $0 + Int(clamping: $1.binding.callsInFlight) }
        }
    }

    /// The number of calls in flight that were admitted while the gate was not open.
    var callsAside: Int {
        state.withLock { state in state.slots.flatMap(\.asides).callsInFlight }
    }

    /// A Boolean value that indicates whether new calls wait.
    var isHeld: Bool { state.withLock { $0.hold != nil } }

    /// The number of calls in flight that returned through the gate, and must end before the component is quiescent.
    var callsPassing: Int {
        state.withLock { state in state.slots.compactMap(\.passing).callsInFlight }
    }

    /// The number of all calls in flight, including those into earlier bindings.
    var callsUnderWay: Int {
        state.withLock { state in
            (state.slots.map(\.binding) + state.slots.flatMap(\.asides) + state.retired + state.disowned).callsInFlight
        }
    }

    var slotCount: Int { state.withLock { $0.slots.count } }

    var callsWaiting: Int { state.withLock { $0.hold?.waiting.count ?? 0 } }

    /// The number of calls admitted since the gate was created.
    var callsBegun: Int {
        state.withLock { state in
            state.callsEnded
                + (state.slots.map(\.binding) + state.slots.flatMap(\.asides) + state.retired + state.disowned)
                .callsBegun
        }
    }

    /// The number of failed calls in instances that have ended since.
    var failuresEnded: Int { state.withLock { $0.failuresEnded } }

    /// The last error of an instance that has ended.
    var lastFailureEnded: FailureStatistics? { state.withLock { $0.lastFailureEnded } }

    /// Returns the slots with calls in flight into the current bindings, and the number of those calls.
    func slotsInFlight() -> [(slot: Slot, calls: Int)] {
        state.withLock { state in
            state.slots.compactMap { gateSlot in
                let calls = [gateSlot.binding, gateSlot.passing].compactMap(\.self).callsInFlight
                return calls > 0 ? (gateSlot.slot, calls) : nil
            }
        }
    }
}

extension [Binding] {
    var callsInFlight: Int { reduce(0) { $0 + Int(clamping: $1.callsInFlight) } }
    var callsBegun: Int { reduce(0) { $0 + Int(clamping: $1.callsBegun) } }
}

extension Gate.State {
    /// Continues to count the calls on removed bindings until they have drained.
    mutating func retire(_ bindings: some Sequence<Binding>) {
        retired += bindings
        for list in [\Self.retired, \.disowned] {
            let drained = self[keyPath: list].filter { $0.callsInFlight == 0 }
            callsEnded += drained.callsBegun
            if !drained.isEmpty { self[keyPath: list].removeAll(where: Set(drained).contains) }
        }
    }

    /// Changes the phase, and resets the decisions that were valid only for the previous one.
    mutating func change(to phase: Gate.Phase, passage: Set<UInt16> = []) {
        (self.phase, self.passage, isLed) = (phase, passage, false)
    }
}
