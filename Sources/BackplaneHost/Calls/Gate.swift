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
        /// While the gate is held, what synchronous calls are let into, since they cannot wait: the same cells, counted apart.
        let aside: Slot
        var asideBinding: Binding?
        /// Why this one stayed closed when the others were opened.
        var refusal: BackplaneError?
    }
    fileprivate struct Waiting {
        let id: UInt64
        let slot: Slot
        let done: @Sendable (Admission) -> Void
    }
    fileprivate struct State {
        var phase = Phase.open
        var doors: [Door] = []
        /// Taken out of their slots, and perhaps not drained.
        var retired: [Binding] = []
        /// In the order they came.
        var waiting: [Waiting] = []
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
            case .held: door.hold(lettingAside: true)
            case .refusing, .closed: break
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
    /// - Parameter lettingAside: lets synchronous calls, which cannot wait, into what is in force still; otherwise they are refused.
    func hold(lettingAside: Bool = true) {
        state.withLock { state in
            guard case .open = state.phase else { return }
            state.phase = .held
            for index in state.doors.indices { state.doors[index].hold(lettingAside: lettingAside) }
            LeaseCounting.settle()
        }
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
    func close(_ error: BackplaneError = .calledStopped) {
        shut(.closed(error), error)
    }

    /// The same until it is opened again.
    func refuse(_ error: BackplaneError) {
        shut(.refusing(error), error)
    }

    private func shut(_ phase: Phase, _ error: BackplaneError) {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            if case .closed = state.phase { return [] }
            state.phase = phase
            for door in state.doors {
                door.slot.flip(to: nil)
                door.aside.flip(to: nil)
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

    /// Calls that are under way, but for synchronous ones that came while the gate was held.
    var callsInFlight: Int {
        state.withLock { state in (state.doors.map(\.binding) + state.retired).callsInFlight }
    }

    /// Synchronous calls under way that came while the gate was held.
    var callsAside: Int {
        state.withLock { state in state.doors.compactMap(\.asideBinding).callsInFlight }
    }

    var callsWaiting: Int { state.withLock { $0.waiting.count } }

    // MARK: Whoever finds a slot closed

    package func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        let id = Callbacks.newID(), deadline = call.deadline
        let decided = state.withLock { state -> Admission? in
            switch state.phase {
            case .open: return state.admission(at: slot)
            case .closed(let error), .refusing(let error): return .failure(error)
            case .held:
                state.waiting.append(Waiting(id: id, slot: slot, done: done))
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
            case .held: state.doors.first { $0.slot == slot }.flatMap { Lease($0.aside) }.map(Admission.success) ?? .failure(.calledRestarts)
            case .closed(let error), .refusing(let error): .failure(error)
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
