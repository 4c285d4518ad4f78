package import Backplane
import Synchronization

/// What whoever owns the component does with its gate.
extension Gate {
    /// A new slot of component `number` that calls through this gate: open when the gate is.
    ///
    /// - Parameter refusal: it stays closed until it is led elsewhere, and this is why.
    func makeSlot(number: UInt32, to binding: Binding, refusal: BackplaneError? = nil) -> Slot {
        let slot = Slot(number: number, gatekeeper: self)
        state.withLock { state in
            if case .open = state.phase, refusal == nil { slot.flip(to: binding) }
            var door = Door(slot, binding, refusal: refusal)
            if state.isLed, refusal == nil { door.next = .success(binding) }
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
            LeaseCounting.settle()
            state.retire([door.binding] + door.asides)
        }
    }

    /// Lets no call in; those that come wait until it is opened or closed. Calls under way go on.
    ///
    /// - Parameters:
    ///   - lettingAside: lets synchronous calls, which cannot wait, into what is in force still; otherwise they are refused.
    ///   - passage: the numbers of components that calls still come back through.
    ///   - retreat: those that go together: calls that come through them are refused rather than made to wait.
    func hold(lettingAside: Bool = true, passage: Set<UInt16> = [], retreat: Retreat? = nil) {
        state.withLock { state in
            guard case .open = state.phase else { return }
            state.change(to: .held(Hold(letsAside: lettingAside, retreat: retreat)), passage: passage)
            for door in state.doors { door.slot.flip(to: nil) }
            LeaseCounting.settle()
        }
    }

    /// Lets nobody come back any more; who is there already goes on.
    ///
    /// - Parameter lettingAside: goes on to let synchronous calls into what was in force.
    func closePassage(lettingAside: Bool = false) {
        state.withLock { state in
            state.passage = []
            if !lettingAside { state.hold?.letsAside = false }
        }
    }

    /// How many calls of what was behind the gate failed, that is behind it no more.
    func note(failures: Int) {
        state.withLock { $0.failuresEnded += failures }
    }

    /// Decides for each slot what it will hold when the held gate is opened; who calls through one that is refused is told why then.
    ///
    /// - Returns: the bindings of calls that were let into an earlier decision, which from now on only drain.
    @discardableResult
    func lead(_ next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Set<Binding> {
        state.withLock { state in
            var taken: Set<Binding> = []
            for index in state.doors.indices {
                state.doors[index].next = next(state.doors[index].slot, state.doors[index].binding)
                // What was let into an earlier decision goes on, and is nobody's any more.
                if let early = state.doors[index].early.take() { taken.insert(early) }
            }
            state.retire(taken)
            state.hold?.successors = []
            if case .open = state.phase {} else { state.isLed = true }
            return taken
        }
    }

    /// Lets nobody in until it is opened again, and gives the bindings that calls may be under way on.
    func withdraw(_ error: BackplaneError) -> Set<Binding> {
        refuse(error)
        return state.withLock { state in Set(state.doors.map(\.binding) + state.doors.flatMap(\.asides) + state.retired) }
    }

    /// Leaves it to somebody else to wait for the calls on bindings that were taken out.
    func disown(_ bindings: Set<Binding>) {
        state.withLock { state in
            for binding in state.retired where bindings.contains(binding) { state.disowned.append(binding) }
            state.retired.removeAll(where: bindings.contains)
        }
    }

    /// While the gate is held: the numbers of components whose calls are let into what was decided.
    func letIn(_ successors: Set<UInt16>) {
        let admitted = state.withLock { state -> [(Waiting, Admission)] in
            guard state.hold != nil else { return [] }
            state.hold?.successors = successors
            var admitted: [(Waiting, Admission)] = [], waiting = state.waiting
            waiting.removeAll { call in
                guard let admission = state.admissionAside(at: call.slot, call.call) else { return false }
                admitted.append((call, admission))
                return true
            }
            state.waiting = waiting
            return admitted
        }
        deliver(admitted)
    }

    /// Opens the gate, and lets in whoever waits.
    ///
    /// - Returns: the bindings taken out, which from now on only drain; how many calls have waited, and how long the longest.
    @discardableResult
    func open() -> Opening {
        let (opening, admitted) = state.withLock { state -> (Opening, [(Waiting, Admission)]) in
            if case .closed = state.phase { return (Opening(), []) }
            state.change(to: .open)
            var taken: [Binding] = []
            for index in state.doors.indices { taken += state.doors[index].open() }
            LeaseCounting.settle()
            state.retire(taken)     // whoever stops the component waits for the calls on these too
            let waiting = state.waiting
            state.waiting = []
            // What is behind the gate now may not be given up before the calls that were counted as retired already.
            let opening = Opening(taken: Set(taken).union(state.retired), callsHeld: waiting.count, longestWait: waiting.map { .now - $0.since }.max() ?? .zero)
            return (opening, waiting.map { ($0, state.admission(at: $0.slot)) })
        }
        deliver(admitted)
        return opening
    }

    /// What an opening came upon.
    struct Opening {
        var taken: Set<Binding> = []
        var callsHeld = 0
        var longestWait = Duration.zero
    }

    /// Puts another binding into every slot, which may take another lane, and lets in whoever waits.
    ///
    /// - Parameter next: gives a slot's binding, from the one that it had.
    /// - Returns: the bindings taken out, which from now on only drain.
    @discardableResult
    package func open(with next: (Slot, Binding) -> Binding) -> Set<Binding> {
        open { .success(next($0, $1)) }.taken
    }

    /// The same where some slots may have to stay closed; who calls through one of those is told why.
    @discardableResult
    func open(deciding next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Opening {
        lead(next)
        return open()
    }

    /// Lets no call in for ever, and refuses those that wait. Calls under way go on.
    ///
    /// - Parameter passage: as in ``hold(lettingAside:passage:retreat:)``.
    func close(_ error: BackplaneError = .calledStopped, passage: Set<UInt16> = []) {
        shut(.closed(error), error, passage)
    }

    /// The same until it is opened again.
    func refuse(_ error: BackplaneError, passage: Set<UInt16> = []) {
        shut(.refusing(error), error, passage)
    }

    private func shut(_ phase: Phase, _ error: BackplaneError, _ passage: Set<UInt16>) {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            if case .closed = state.phase { return [] }
            if case .open = state.phase { state.change(to: phase, passage: passage) } else { state.change(to: phase, passage: state.passage) }
            for door in state.doors { door.slot.flip(to: nil) }
            LeaseCounting.settle()
            let waiting = state.waiting
            state.waiting = []
            return waiting.map { ($0, .failure(error)) }
        }
        deliver(refused)
    }

    /// Refuses those that wait and whom the retreat waits for.
    func refuseHeldUp() {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            guard let retreat = state.hold?.retreat else { return [] }
            let refused = state.waiting.filter { retreat.holdsUp($0.slot.appended(to: $0.call)) }
            if !refused.isEmpty { state.waiting.removeAll { waiting in refused.contains { $0.id == waiting.id } } }
            return refused.map { ($0, .failure(.calledGoes)) }
        }
        deliver(refused)
    }
}
