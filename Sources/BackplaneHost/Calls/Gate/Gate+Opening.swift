package import Backplane
import Synchronization

/// The operations for the owner of the component behind the gate.
extension Gate {
    /// Creates a slot for calls from component `number` through this gate, open if the gate is.
    ///
    /// - Parameter refusal: The reason why the slot stays closed until it is assigned another binding.
    func makeSlot(number: UInt32, to binding: Binding, refusal: BackplaneError? = nil) -> Slot {
        let slot = Slot(number: number, gatekeeper: self)
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
    /// - Parameters:
    ///   - lettingAside: A Boolean value that indicates whether synchronous calls, which cannot wait, are still
    ///     admitted to the current binding.
    ///   - passage: The numbers of the components through which calls may still return.
    ///   - leaving: The components that stop together; calls that come through them are refused instead of held.
    func hold(lettingAside: Bool = true, passage: Set<UInt16> = [], leaving: LeavingComponents? = nil) {
        state.withLock { state in
            guard case .open = state.phase else { return }
            state.change(to: .held(Hold(letsAside: lettingAside, leaving: leaving)), passage: passage)
            for gateSlot in state.slots { gateSlot.slot.flip(to: nil) }
            LeaseCounting.settle()
        }
    }

    /// Stops admitting returning calls; those already in flight continue.
    ///
    /// - Parameter lettingAside: A Boolean value that indicates whether synchronous calls still reach the current
    ///   binding.
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
    /// - Returns: The bindings of calls that were admitted under an earlier decision, which only drain from now on.
    @discardableResult
    func lead(_ next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Set<Binding> {
        state.withLock { state in
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
                return hold.waiting
            }
            var admitted: [(Waiting, Admission)] = [], remaining = waiting ?? []
            remaining.removeAll { call in
                guard let admission = state.admissionAside(at: call.slot, call.call) else { return false }
                admitted.append((call, admission))
                return true
            }
            state.withHold { $0.waiting = remaining }
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
            let waiting = state.hold?.waiting ?? []
            state.change(to: .open)
            var taken: [Binding] = []
            for index in state.slots.indices { taken += state.slots[index].open() }
            LeaseCounting.settle()
            state.retire(taken)  // stopping the component waits for the calls on these, too
            // The instance behind the gate must not be released before calls counted as retired earlier have ended.
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

    /// Puts another binding, possibly for another lane, into every slot, and admits the waiting calls.
    ///
    /// - Parameter next: A function that returns the slot's next binding, given its current one.
    /// - Returns: The removed bindings, which only drain from now on.
    @discardableResult
    package func open(with next: (Slot, Binding) -> Binding) -> Set<Binding> {
        open { .success(next($0, $1)) }.taken
    }

    /// Opens the gate with another decision for every slot; calls through a refused slot receive the error.
    @discardableResult
    func open(deciding next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Opening {
        lead(next)
        return open()
    }

    /// Permanently closes the gate and refuses the waiting calls; calls in flight continue.
    ///
    /// - Parameter passage: The same as in ``hold(lettingAside:passage:leaving:)``.
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
            let waiting = state.hold?.waiting ?? []
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

    /// Refuses the waiting calls for which the change itself waits.
    func refuseHeldUp() {
        let refused = state.withLock { state -> [(Waiting, Admission)] in
            let refused = state.withHold { hold -> [Waiting] in
                guard let leaving = hold.leaving else { return [] }
                let refused = hold.waiting.filter { leaving.holdsUp($0.slot.appended(to: $0.call)) }
                if !refused.isEmpty { hold.waiting.removeAll { waiting in refused.contains { $0.id == waiting.id } } }
                return refused
            }
            return (refused ?? []).map { ($0, .failure(.calledGoes)) }
        }
        deliver(refused)
    }
}
