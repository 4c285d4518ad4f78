package import Backplane
import Synchronization

/// The slots of everybody who calls one component, opened and closed together; calls that find theirs closed meet this.
package final class Gate: Gatekeeper {
    fileprivate enum Phase {
        case open
        /// Calls wait.
        case held
        /// Until it is opened again calls are told why not.
        case refusing(BackplaneError)
        /// For good.
        case closed(BackplaneError)
    }
    /// One slot, and what it holds while the gate is open.
    fileprivate struct Door {
        let slot: Slot
        var binding: Binding
        /// While the gate is held, what those are let into that must not wait: the same cells, counted apart.
        let aside: Slot
        var asideBinding: Binding?
        /// Why this one stayed closed when the others were opened.
        var refusal: BackplaneError?
    }
    fileprivate struct Waiting {
        let id: UInt64
        let slot: Slot
        let call: Call
        let done: @Sendable (Admission) -> Void
    }
    fileprivate struct State {
        var phase = Phase.open
        var doors: [Door] = []
        /// Taken out of their slots, and perhaps not drained.
        var retired: [Binding] = []
        /// In the order they came.
        var waiting: [Waiting] = []
        /// While the gate is held: are synchronous calls let aside?
        var letsAside = true
        /// While the gate is not open and what is behind it has not stopped: its number. Calls that come through it are let aside,
        /// as it waits for their end.
        var passage: UInt16?
        /// While the gate is held: calls that come through one of these are refused.
        var retreat: Retreat?
    }
    private let timer: DeadlineTimer
    private let state = Mutex(State())

    init(timer: DeadlineTimer) {
        self.timer = timer
    }

    // MARK: Whoever owns the component

    /// A new slot of component `number` that calls through this gate: open when the gate is.
    func makeSlot(number: UInt32, to binding: Binding) -> Slot {
        let slot = Slot(number: number, gatekeeper: self)
        var door = Door(slot: slot, binding: binding, aside: Slot(number: number, gatekeeper: self))
        state.withLock { state in
            switch state.phase {
            case .open: slot.flip(to: binding)
            case .held: door.hold(lettingAside: state.letsAside || state.passage != nil)
            case .refusing, .closed: door.hold(lettingAside: state.passage != nil)
            }
            state.doors.append(door)
        }
        return slot
    }

    /// Closes a slot for good whose component has stopped or was not made after all; calls under way go on.
    func abandon(_ slot: Slot) {
        state.withLock { state in
            guard let index = state.doors.firstIndex(where: { $0.slot == slot }) else { return }
            let door = state.doors.remove(at: index)
            door.slot.flip(to: nil)
            door.aside.flip(to: nil)
            LeaseCounting.settle()
            state.retired.removeAll { $0.callsInFlight == 0 }
            state.retired += [door.binding, door.asideBinding].compactMap(\.self)
        }
    }

    /// Lets no call in; those that come wait until it is opened or closed. Calls under way go on.
    ///
    /// - Parameters:
    ///   - lettingAside: lets synchronous calls, which cannot wait, into what is in force still; otherwise they are refused.
    ///   - passage: the number of the component behind it, which still calls come back to that have come through it.
    ///   - retreat: those that go together: calls that come through them are refused rather than made to wait.
    func hold(lettingAside: Bool = true, passage: UInt16? = nil, retreat: Retreat? = nil) {
        state.withLock { state in
            guard case .open = state.phase else { return }
            state.phase = .held
            (state.letsAside, state.passage, state.retreat) = (lettingAside, passage, retreat)
            for index in state.doors.indices { state.doors[index].hold(lettingAside: lettingAside || passage != nil) }
            LeaseCounting.settle()
        }
    }

    /// Lets nothing aside any more; who is there already goes on.
    func closePassage() {
        state.withLock { state in
            if case .open = state.phase { return }
            (state.letsAside, state.passage) = (false, nil)
            for door in state.doors { door.aside.flip(to: nil) }
            LeaseCounting.settle()
        }
    }

    /// Refuses those that wait and whom the retreat waits for.
    func refuseHeldUp() {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            guard let retreat = state.retreat else { return [] }
            let refused = state.waiting.filter { retreat.holdsUp($0.slot.appended(to: $0.call)) }
            if !refused.isEmpty { state.waiting.removeAll { waiting in refused.contains { $0.id == waiting.id } } }
            return refused.map { ($0, .failure(.calledGoes)) }
        }
        deliver(refused)
    }

    /// Puts another binding into every slot, which may take another lane, and lets in whoever waits.
    ///
    /// - Parameter next: gives a slot's binding, from the one that it had.
    /// - Returns: the bindings taken out, which from now on only drain.
    @discardableResult
    package func open(with next: (Slot, Binding) -> Binding) -> Set<Binding> {
        open { .success(next($0, $1)) }
    }

    /// The same where some slots may have to stay closed; who calls through one of those is told why.
    @discardableResult
    func open(deciding next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Set<Binding> {
        let (taken, admitted) = state.withLock { state -> (Set<Binding>, [(Waiting, Admission)]) in
            if case .closed = state.phase { return ([], []) }
            state.phase = .open
            state.endHold()
            var taken: Set<Binding> = []
            for index in state.doors.indices {
                let door = state.doors[index]
                taken.formUnion(state.doors[index].open(with: next(door.slot, door.binding)))
            }
            LeaseCounting.settle()
            state.retired.removeAll { $0.callsInFlight == 0 }
            state.retired += taken      // whoever stops the component waits for the calls on these too
            return (taken, state.waiting.takeAll().map { ($0, state.admission(at: $0.slot)) })
        }
        deliver(admitted)
        return taken
    }

    /// Lets no call in for ever, and refuses those that wait. Calls under way go on.
    ///
    /// - Parameter passage: as in ``hold(lettingAside:passage:retreat:)``.
    func close(_ error: BackplaneError = .calledStopped, passage: UInt16? = nil) {
        shut(.closed(error), error, passage)
    }

    /// The same until it is opened again.
    func refuse(_ error: BackplaneError, passage: UInt16? = nil) {
        shut(.refusing(error), error, passage)
    }

    private func shut(_ phase: Phase, _ error: BackplaneError, _ passage: UInt16?) {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            if case .closed = state.phase { return [] }
            let old = state.phase
            state.phase = phase
            state.endHold()
            if case .open = old { state.passage = passage }
            for index in state.doors.indices {
                if state.passage != nil {
                    state.doors[index].hold(lettingAside: true)
                } else {
                    state.doors[index].slot.flip(to: nil)
                    state.doors[index].aside.flip(to: nil)
                }
            }
            LeaseCounting.settle()
            return state.waiting.takeAll().map { ($0, .failure(error)) }
        }
        deliver(refused)
    }

    private func deliver(_ admissions: [(Waiting, Admission)]) {
        for (waiting, admission) in admissions {
            timer.cancel(waiting.id)
            waiting.done(admission)
        }
    }

    /// Calls that are under way, but for those that were let aside while the gate was held.
    var callsInFlight: Int {
        state.withLock { state in (state.doors.map(\.binding) + state.retired).callsInFlight }
    }

    /// Calls under way that were let aside while the gate was held.
    var callsAside: Int {
        state.withLock { state in state.doors.compactMap(\.asideBinding).callsInFlight }
    }

    var slotCount: Int { state.withLock { $0.doors.count } }

    var callsWaiting: Int { state.withLock { $0.waiting.count } }

    // MARK: Whoever finds a slot closed

    package func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        let id = Callbacks.newID(), deadline = call.deadline
        let decided = state.withLock { state -> Admission? in
            switch state.phase {
            case .open: return state.admission(at: slot)
            case .closed(let error), .refusing(let error): return state.admissionAside(at: slot, call) ?? .failure(error)
            case .held:
                if let admission = state.admissionAside(at: slot, call) { return admission }
                state.waiting.append(Waiting(id: id, slot: slot, call: call, done: done))
                return nil
            }
        }
        if let decided {
            done(decided)
            return 0
        }
        if let deadline { timer.schedule(id, at: deadline) { self.end(id, .deadlinePassed(before: "the component called was open again")) } }
        return id
    }

    package func cancel(_ id: UInt64) {
        end(id, BackplaneError(.callCancelled, "the call was cancelled while it waited for the component called"))
    }

    package func admitNow(at slot: Slot, _ call: Call) -> Admission {
        state.withLock { state in
            switch state.phase {
            case .open: state.admission(at: slot)
            case .held:
                if state.letsAside { state.lease(aside: slot) ?? .failure(.calledRestarts) }
                else { state.admissionAside(at: slot, call) ?? .failure(.calledRestarts) }
            case .closed(let error), .refusing(let error): state.admissionAside(at: slot, call) ?? .failure(error)
            }
        }
    }

    private func end(_ id: UInt64, _ error: BackplaneError) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        if let waiting { deliver([(waiting, .failure(error))]) }
    }
}

extension Gate.State {
    /// At a slot whose gate is open.
    fileprivate func admission(at slot: Slot) -> Admission {
        if let lease = Lease(slot) { return .success(lease) }
        return .failure(doors.first { $0.slot == slot }?.refusal ?? .calledStopped)
    }

    /// Of a call that must not wait at the held gate, since what has to happen first waits for it; `nil`: it may.
    fileprivate func admissionAside(at slot: Slot, _ call: Call) -> Admission? {
        let call = slot.appended(to: call)
        if let passage, call.mayHaveCome(through: passage), let admission = lease(aside: slot) { return admission }
        return retreat.flatMap { $0.holdsUp(call) ? .failure(.calledGoes) : nil }
    }

    fileprivate func lease(aside slot: Slot) -> Admission? {
        doors.first { $0.slot == slot }.flatMap { Lease($0.aside) }.map(Admission.success)
    }

    fileprivate mutating func endHold() {
        (letsAside, passage, retreat) = (true, nil, nil)
    }
}

extension Gate.Door {
    fileprivate mutating func hold(lettingAside: Bool) {
        if lettingAside, refusal == nil {
            let twin = binding.twin()
            asideBinding = twin
            aside.flip(to: twin)
        }
        slot.flip(to: nil)
    }

    /// Returns the bindings that this took out.
    fileprivate mutating func open(with next: Result<Binding, BackplaneError>) -> [Binding] {
        aside.flip(to: nil)
        let oldAside = asideBinding
        asideBinding = nil
        switch next {
        case .success(let next):
            let old = binding == next ? nil : binding
            slot.flip(to: next)
            (binding, refusal) = (next, nil)
            return [old, oldAside].compactMap(\.self)
        case .failure(let error):
            slot.flip(to: nil)
            refusal = error
            return [binding, oldAside].compactMap(\.self)
        }
    }
}

extension BackplaneError {
    fileprivate static var calledRestarts: BackplaneError {
        BackplaneError(.callRetired, "the component called is being restarted, and a synchronous call cannot wait for that; call again")
    }

    /// To one that cannot be waited for.
    fileprivate static var calledGoes: BackplaneError {
        BackplaneError(.callRetired, "the component called is being restarted together with one that this call came through, and so cannot be waited for; call again")
    }
}

extension [Binding] {
    /// Native wires to one component share a binding.
    fileprivate var callsInFlight: Int {
        Set(self).reduce(0) { $0 + Int(clamping: $1.callsInFlight) }
    }
}

extension Array {
    fileprivate mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
