package import Backplane
import Glibc
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
        /// Whether synchronous calls are still admitted to the current binding.
        var letsAside = true
        /// The numbers of the components whose calls are admitted to the next bindings.
        var successors: Set<UInt16> = []
        var waiting = WaitingCalls()
    }
    struct Waiting {
        let id: UInt64
        let slot: Slot
        let call: Call
        let since: Deadline
        let done: @Sendable (Admission) -> Void
    }
    /// The waiting calls; there may be tens of thousands of them, so none is searched for.
    struct WaitingCalls {
        private var calls: [UInt64: (arrival: Int, call: Waiting)] = [:]
        private var arrivals = 0

        var count: Int { calls.count }
        var inOrderOfArrival: [Waiting] { calls.values.sorted { $0.arrival < $1.arrival }.map(\.call) }

        func contains(_ id: UInt64) -> Bool { calls[id] != nil }

        mutating func add(_ call: Waiting) {
            arrivals += 1
            calls[call.id] = (arrivals, call)
        }

        mutating func remove(_ id: UInt64) -> Waiting? { calls.removeValue(forKey: id)?.call }
    }
    struct State {
        var phase = Phase.open
        var slots: [GateSlot] = []
        /// The names of the component behind the gate and of its plugin; `nil` until one has been led to.
        var called: (component: String, plugin: String)?
        /// The bindings that were taken out of their slots and may still have calls in flight.
        var retired: [Binding] = []
        /// The retired bindings for which another part of the host waits.
        var disowned: [Binding] = []
        /// Whether the contents of the slots at the next opening have been decided.
        var isLed = false
        /// The number of calls that started on bindings that have since drained.
        var callsEnded = 0
        /// The number of failed calls in instances that have since ended.
        var failuresEnded = 0
        /// The last error of such an instance.
        var lastFailureEnded: FailureStatistics?
        /// The numbers of the components for which the component behind the closed gate waits.
        ///
        /// Calls that come through them are admitted to the current binding.
        var passage: Set<UInt16> = []

        /// All bindings that may have calls in flight.
        var bindings: [Binding] { slots.map(\.binding) + slots.flatMap(\.asides) + retired + disowned }

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
    /// The counts of the exchanges of the component and its successors.
    let exchanges = ExchangeCounts()
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

extension Gate {
    /// Creates a slot for calls from component `number` through this gate, open if the gate is.
    ///
    /// - Parameters:
    ///   - methods: The methods of the callers' contract, which errors name.
    ///   - refusal: The reason why the slot stays closed until it is assigned another binding.
    func makeSlot(
        number: UInt32, to binding: Binding, methods: [MethodDescription] = [], refusal: BackplaneError? = nil
    ) -> Slot {
        let slot = Slot(number: number, gatekeeper: self, methods: methods)
        state.withLock { state in
            if case .open = state.phase, refusal == nil { slot.flip(to: binding) }
            var gateSlot = GateSlot(slot, binding, refusal: refusal)
            if state.isLed, refusal == nil { gateSlot.next = .success(binding) }
            state.slots.append(gateSlot)
        }
        return slot
    }

    /// Closes the slot of a component that has stopped or whose creation failed; calls in flight continue.
    func abandon(_ slot: Slot) {
        state.withLock { state in
            guard let index = state.slots.firstIndex(where: { $0.slot == slot }) else { return }
            let gateSlot = state.slots.remove(at: index)
            gateSlot.slot.flip(to: nil)
            LeaseCounting.settle()
            state.retire([gateSlot.binding] + gateSlot.asides)
        }
    }

    /// Holds new calls, which wait until the gate is opened or closed; calls in flight continue.
    ///
    /// Synchronous calls, which cannot wait, are still admitted to the current binding.
    ///
    /// - Parameter passage: The numbers of the components through which calls may still return.
    func hold(passage: Set<UInt16> = []) {
        state.withLock { state in
            guard case .open = state.phase else { return }
            state.change(to: .held(Hold()), passage: passage)
            for gateSlot in state.slots { gateSlot.slot.flip(to: nil) }
            LeaseCounting.settle()
        }
    }

    /// Stops admitting returning calls; those already in flight continue.
    ///
    /// - Parameter lettingAside: Whether synchronous calls still reach the current binding.
    func closePassage(lettingAside: Bool = false) {
        state.withLock { state in
            state.passage = []
            if !lettingAside { state.withHold { $0.letsAside = false } }
        }
    }

    /// Adds the failed calls of an instance that is no longer behind the gate, and stores its last error.
    func note(failures: Int, last: FailureStatistics?) {
        state.withLock { state in
            state.failuresEnded += failures
            if let last { state.lastFailureEnded = last }
        }
    }

    /// Decides what each slot will contain when the held gate is opened; calls through a refused slot then fail.
    ///
    /// - Parameter called: The names of the component that is called once the gate is open, and of its plugin.
    /// - Returns: The bindings of calls that were admitted under an earlier decision, which only drain from now on.
    @discardableResult
    func lead(
        to called: (component: String, plugin: String)? = nil,
        _ next: (Slot, Binding) -> Result<Binding, BackplaneError>
    ) -> Set<Binding> {
        state.withLock { state in
            if let called { state.called = called }
            var taken: Set<Binding> = []
            for index in state.slots.indices {
                state.slots[index].next = next(state.slots[index].slot, state.slots[index].binding)
                // Calls admitted under an earlier decision continue, and no longer belong to the slot.
                if let early = state.slots[index].early.take() { taken.insert(early) }
            }
            state.retire(taken)
            state.withHold { $0.successors = [] }
            if case .open = state.phase {} else { state.isLed = true }
            return taken
        }
    }

    /// Refuses calls until the gate is opened again, and returns the bindings that may have calls in flight.
    func withdraw(_ error: BackplaneError) -> Set<Binding> {
        refuse(error)
        return state.withLock { state in Set(state.slots.map(\.binding) + state.slots.flatMap(\.asides) + state.retired)
        }
    }

    /// Leaves the wait for the calls on retired bindings to the caller.
    func disown(_ bindings: Set<Binding>) {
        state.withLock { state in
            for binding in state.retired where bindings.contains(binding) { state.disowned.append(binding) }
            state.retired.removeAll(where: bindings.contains)
        }
    }

    /// Admits waiting and new calls of these components to the next bindings while the gate is held.
    func letIn(_ successors: Set<UInt16>) {
        let admitted = state.withLock { state -> [(Waiting, Admission)] in
            let waiting = state.withHold { hold in
                hold.successors = successors
                return hold.waiting.inOrderOfArrival
            }
            let admitted = (waiting ?? []).compactMap { call -> (Waiting, Admission)? in
                state.admissionAside(at: call.slot, call.call).map { (call, $0) }
            }
            _ = state.withHold { hold in for (call, _) in admitted { _ = hold.waiting.remove(call.id) } }
            return admitted
        }
        deliver(admitted)
    }

    /// Opens the gate and admits the waiting calls.
    ///
    /// - Returns: The removed bindings, which only drain from now on, and the number and longest wait of held calls.
    @discardableResult
    func open() -> Opening {
        let (opening, admitted) = state.withLock { state -> (Opening, [(Waiting, Admission)]) in
            if case .closed = state.phase { return (Opening(), []) }
            let waiting = state.hold?.waiting.inOrderOfArrival ?? []
            state.change(to: .open)
            var taken: [Binding] = []
            for index in state.slots.indices { taken += state.slots[index].open() }
            LeaseCounting.settle()
            state.retire(taken)  // stopping the component waits for the calls on these, too
            // Calls counted as retired earlier must end before the instance behind the gate is released.
            let opening = Opening(
                taken: Set(taken).union(state.retired), callsHeld: waiting.count,
                longestWait: waiting.map { clock.moment - $0.since }.max() ?? .zero)
            return (opening, waiting.map { ($0, state.admission(at: $0.slot)) })
        }
        deliver(admitted)
        return opening
    }

    /// The effect of opening a gate.
    struct Opening {
        var taken: Set<Binding> = []
        var callsHeld = 0
        var longestWait = Duration.zero
    }

    /// Permanently closes the gate and refuses the waiting calls; calls in flight continue.
    ///
    /// - Parameter passage: The same as in ``hold(passage:)``.
    func close(_ error: BackplaneError = .calledStopped, passage: Set<UInt16> = []) {
        shut(.closed(error), error, passage)
    }

    /// Refuses waiting and new calls until the gate is opened again.
    func refuse(_ error: BackplaneError, passage: Set<UInt16> = []) {
        shut(.refusing(error), error, passage)
    }

    private func shut(_ phase: Phase, _ error: BackplaneError, _ passage: Set<UInt16>) {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            if case .closed = state.phase { return [] }
            let waiting = state.hold?.waiting.inOrderOfArrival ?? []
            if case .open = state.phase {
                state.change(to: phase, passage: passage)
            } else {
                state.change(to: phase, passage: state.passage)
            }
            for gateSlot in state.slots { gateSlot.slot.flip(to: nil) }
            LeaseCounting.settle()
            return waiting.map { ($0, .failure(error)) }
        }
        deliver(refused)
    }
}

extension Gate {
    package func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        let id = Callbacks.newID(), deadline = call.deadline
        let decided = state.withLock { state -> Admission? in
            switch state.phase {
            case .open: return state.admission(at: slot)
            case .closed(let error), .refusing(let error):
                return state.admissionAside(at: slot, call) ?? .failure(error)
            case .held:
                if let admission = state.admissionAside(at: slot, call) { return admission }
                let waits = state.withHold { hold in
                    guard hold.waiting.count < waitingLimit else { return false }
                    hold.waiting.add(Waiting(id: id, slot: slot, call: call, since: clock.moment, done: done))
                    return true
                }
                return waits == true ? nil : .failure(.overloaded(waitingLimit))
            }
        }
        if let decided {
            done(decided)
            return 0
        }
        if let deadline {
            clock.schedule(id, at: deadline) {
                self.end(id, .deadlinePassed(before: "the called component was available again"))
            }
            // The call may have been admitted before there was a deadline to cancel.
            let waits = state.withLock { $0.withHold { hold in hold.waiting.contains(id) } }
            if waits != true { clock.cancel(id) }
        }
        return id
    }

    package func cancel(_ id: UInt64) {
        end(id, BackplaneError(.callCancelled, "the call was cancelled while it waited for the called component"))
    }

    package func admitNow(at slot: Slot, _ call: Call) -> Admission {
        state.withLock { state in
            switch state.phase {
            case .open: state.admission(at: slot)
            case .held(let hold):
                state.admissionAside(at: slot, call)
                    ?? (hold.letsAside ? state.lease(at: slot) { $0.lease(\.aside) } : nil)
                    ?? .failure(.calledRestarts)
            case .closed(let error), .refusing(let error): state.admissionAside(at: slot, call) ?? .failure(error)
            }
        }
    }

    package func name(of method: String) -> String? {
        state.withLock(\.called).map { "\($0.component).\(method) (\($0.plugin))" }
    }

    private func end(_ id: UInt64, _ error: BackplaneError) {
        let waiting = state.withLock { $0.withHold { $0.waiting.remove(id) } }
        if let waiting = waiting.flatMap(\.self) { deliver([(waiting, .failure(error))]) }
    }
}

extension Gate.State {
    /// Returns the admission at a slot whose gate is open.
    func admission(at slot: Slot) -> Admission {
        if let lease = Lease(slot) { return .success(lease) }
        return .failure(slots.first { $0.slot == slot }?.refusal ?? .calledStopped)
    }

    /// Returns the admission of a call for which a pending change waits, or `nil` if the call may wait at the gate.
    mutating func admissionAside(at slot: Slot, _ call: Call) -> Admission? {
        let successors = hold?.successors ?? []
        guard !passage.isEmpty || !successors.isEmpty else { return nil }
        let call = slot.appended(to: call)
        if call.path.contains(where: successors.contains), let admission = lease(at: slot, { $0.leaseNext() }) {
            return admission
        }
        guard call.mayHaveCome(throughOneOf: passage) else { return nil }
        return lease(at: slot) { $0.lease(\.passing) }
    }

    fileprivate mutating func lease(at slot: Slot, _ take: (inout GateSlot) -> Lease?) -> Admission? {
        guard let index = slots.firstIndex(where: { $0.slot == slot }) else { return nil }
        return take(&slots[index]).map(Admission.success)
    }
}

extension Call {
    /// Returns whether the call may have come through one of these components, according to its path.
    fileprivate func mayHaveCome(throughOneOf numbers: Set<UInt16>) -> Bool {
        numbers.contains { mayHaveCome(through: $0) }
    }
}

extension BackplaneError {
    fileprivate static var calledRestarts: BackplaneError {
        BackplaneError(
            .callRetired,
            "the called component is being restarted, and a synchronous call cannot wait for that; call again")
    }

    fileprivate static func overloaded(_ limit: Int) -> BackplaneError {
        BackplaneError(
            .callOverloaded,
            "\(limit) calls already wait for the called component, which is being restarted (`HostOptions.waitingLimit`); call again later"
        )
    }
}

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

    var isHeld: Bool { state.withLock { $0.hold != nil } }

    /// The number of calls in flight that returned through the gate, and must end before the component is quiescent.
    var callsPassing: Int {
        state.withLock { state in state.slots.compactMap(\.passing).callsInFlight }
    }

    /// The number of all calls in flight, including those into earlier bindings.
    var callsUnderWay: Int { state.withLock { $0.bindings.callsInFlight } }

    var slotCount: Int { state.withLock { $0.slots.count } }

    /// Whether slots lead to the gate, or calls are in flight.
    var isInUse: Bool { slotCount > 0 || callsUnderWay > 0 }

    var callsWaiting: Int { state.withLock { $0.hold?.waiting.count ?? 0 } }

    /// The number of calls admitted since the gate was created.
    var callsBegun: Int { state.withLock { $0.callsEnded + $0.bindings.callsBegun } }

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

/// One slot of a gate, and the bindings that belong to it.
struct GateSlot {
    let slot: Slot
    /// The binding in the slot while the gate is open.
    var binding: Binding
    /// The decision about the slot at the next opening of the gate, or `nil` if there is none yet.
    var next: Result<Binding, BackplaneError>?
    /// The reason why this slot stays closed although the gate is open.
    var refusal: BackplaneError?

    // While the gate is not open, calls are counted by separate bindings, created for the first such call.

    /// The count of synchronous calls into `binding`, for which no change waits.
    var aside: Binding?
    /// The count of calls into `binding` that return through the component behind the gate.
    var passing: Binding?
    /// The count of calls into `next`.
    var early: Binding?

    init(_ slot: Slot, _ binding: Binding, refusal: BackplaneError? = nil) {
        (self.slot, self.binding, self.refusal) = (slot, binding, refusal)
    }

    var asides: [Binding] { [aside, passing, early].compactMap(\.self) }

    /// Returns a lease of `binding` that is counted by the binding at `place`, or `nil` if this slot stays closed.
    mutating func lease(_ place: WritableKeyPath<GateSlot, Binding?>) -> Lease? {
        guard refusal == nil else { return nil }
        return take(place, binding)
    }

    /// Returns a lease of the next binding, or `nil` if it has not been decided or the slot will stay closed.
    mutating func leaseNext() -> Lease? {
        guard case .success(let next) = next else { return nil }
        return take(\.early, next)
    }

    private mutating func take(_ place: WritableKeyPath<GateSlot, Binding?>, _ binding: Binding) -> Lease {
        let twin = self[keyPath: place] ?? binding.twin()
        self[keyPath: place] = twin
        return Lease(into: twin)
    }

    /// Opens the slot with the next binding, or the current one, and returns the bindings that this removes.
    mutating func open() -> [Binding] {
        let asides = asides
        (aside, passing, early) = (nil, nil, nil)
        switch next ?? refusal.map(Result.failure) ?? .success(binding) {
        case .success(let next):
            let old = binding
            slot.flip(to: next)
            (binding, refusal, self.next) = (next, nil, nil)
            return (old == next ? [] : [old]) + asides
        case .failure(let error):
            slot.flip(to: nil)
            // No new call reaches the old binding: it keeps counting as retired.
            let old = binding
            (binding, refusal, next) = (old.twin(), error, nil)
            return [old] + asides
        }
    }
}

/// The wait for calls to leave removed bindings, which requires polling because no event signals it.
package enum Drain {
    /// Polls for a millisecond or two at most, because most calls end within a microsecond.
    static func looks(_ isThere: () -> Bool) -> Bool {
        for look in 0..<30 {
            if isThere() { return true }
            if look < 10 { sched_yield() } else { usleep(20) }
        }
        return isThere()
    }

    /// Polls on a thread that may block; returns `false` if calls are still in flight at the deadline.
    ///
    /// Most calls end within a microsecond. A caller that was preempted inside its call needs a processor to finish, so
    /// after the first polls this function sleeps for increasing times of up to a tenth of a millisecond.
    package static func wait(for bindings: Set<Binding>, until deadline: Deadline) -> Bool {
        var looks = 0
        while bindings.contains(where: { $0.callsInFlight > 0 }) {
            guard Deadline.now < deadline else { return false }
            looks += 1
            if looks > 20 { usleep(useconds_t(min(looks - 20, 100))) }
        }
        return true
    }
}
