import Backplane
import Synchronization

/// The slots of everybody who calls one component, opened and closed together; calls that find theirs closed meet this.
package final class Gate: Gatekeeper {
    enum Phase {
        case open
        /// Calls wait.
        case held(Hold)
        /// Until it is opened again calls are told why not.
        case refusing(BackplaneError)
        /// For good.
        case closed(BackplaneError)
    }
    /// What is valid only while calls wait.
    struct Hold {
        /// Are synchronous calls, which cannot wait, let into what was in force?
        var letsAside: Bool
        /// Calls that come through one of these are refused.
        let retreat: Retreat?
        /// The numbers of those whose calls are let into what will be in force.
        var successors: Set<UInt16> = []
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
        var doors: [Door] = []
        /// Taken out of their slots, and perhaps not drained.
        var retired: [Binding] = []
        /// The same, where somebody else waits for them.
        var disowned: [Binding] = []
        /// While the gate is not open: it was decided already what will be in force when it is.
        var isLed = false
        /// Calls that began on bindings that have drained since.
        var callsEnded = 0
        /// Calls that failed in instances that have ended since.
        var failuresEnded = 0
        /// In the order they came.
        var waiting: [Waiting] = []
        /// While the gate is not open: the numbers of those that what is behind it waits for. Calls that come through one of them are let
        /// into what was in force.
        var passage: Set<UInt16> = []

        /// `nil`: calls do not wait.
        var hold: Hold? {
            get { if case .held(let hold) = phase { hold } else { nil } }
            set { if case .held = phase, let newValue { phase = .held(newValue) } }
        }
    }
    let timer: DeadlineTimer
    let state = Mutex(State())

    init(timer: DeadlineTimer) {
        self.timer = timer
    }

    func deliver(_ admissions: [(Waiting, Admission)]) {
        for (waiting, admission) in admissions {
            timer.cancel(waiting.id)
            waiting.done(admission)
        }
    }
}

// MARK: What is there

extension Gate {
    /// Calls that are under way, but for those that were let in while the gate was not open.
    var callsInFlight: Int {
        state.withLock { state in state.doors.reduce(state.retired.callsInFlight) { $0 + Int(clamping: $1.binding.callsInFlight) } }
    }

    /// Calls under way that were let in while the gate was not open.
    var callsAside: Int {
        state.withLock { state in state.doors.flatMap(\.asides).callsInFlight }
    }

    /// The same but for synchronous ones: those that what was in force has to wait for, before it may be still.
    var callsPassing: Int {
        state.withLock { state in state.doors.compactMap(\.passing).callsInFlight }
    }

    /// All calls that are under way, also in what was in force before.
    var callsUnderWay: Int {
        state.withLock { state in (state.doors.map(\.binding) + state.doors.flatMap(\.asides) + state.retired + state.disowned).callsInFlight }
    }

    var slotCount: Int { state.withLock { $0.doors.count } }

    var callsWaiting: Int { state.withLock { $0.waiting.count } }

    /// Calls that were let in since the gate was made.
    var callsBegun: Int {
        state.withLock { state in
            state.callsEnded + (state.doors.map(\.binding) + state.doors.flatMap(\.asides) + state.retired + state.disowned).callsBegun
        }
    }

    /// Calls that failed in instances that have ended since.
    var failuresEnded: Int { state.withLock { $0.failuresEnded } }

    /// The slots with calls under way in what is in force, and how many those are.
    func slotsInFlight() -> [(slot: Slot, calls: Int)] {
        state.withLock { state in
            state.doors.compactMap { door in
                let calls = [door.binding, door.passing].compactMap(\.self).callsInFlight
                return calls > 0 ? (door.slot, calls) : nil
            }
        }
    }
}

extension [Binding] {
    var callsInFlight: Int { reduce(0) { $0 + Int(clamping: $1.callsInFlight) } }
    var callsBegun: Int { reduce(0) { $0 + Int(clamping: $1.callsBegun) } }
}

extension Gate.State {
    /// Keeps count of bindings that were taken out until they have drained.
    mutating func retire(_ bindings: some Sequence<Binding>) {
        retired += bindings
        for list in [\Self.retired, \.disowned] {
            let drained = self[keyPath: list].filter { $0.callsInFlight == 0 }
            callsEnded += drained.callsBegun
            if !drained.isEmpty { self[keyPath: list].removeAll(where: Set(drained).contains) }
        }
    }

    /// Leaves the gate in another phase than it was.
    mutating func change(to phase: Gate.Phase, passage: Set<UInt16> = []) {
        (self.phase, self.passage, isLed) = (phase, passage, false)
    }
}
