package import Backplane
import BackplaneBoundary
import Synchronization

/// Admission of calls that find their slot closed.
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
                    hold.waiting.append(Waiting(id: id, slot: slot, call: call, since: clock.moment, done: done))
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
            let waits = state.withLock { $0.withHold { hold in hold.waiting.contains { $0.id == id } } }
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

    private func end(_ id: UInt64, _ error: BackplaneError) {
        let waiting = state.withLock { state in
            state.withHold { hold in hold.waiting.firstIndex { $0.id == id }.map { hold.waiting.remove(at: $0) } }
        }
        if let waiting = waiting.flatMap(\.self) { deliver([(waiting, .failure(error))]) }
    }
}

extension Gate.State {
    /// Returns the admission at a slot whose gate is open.
    func admission(at slot: Slot) -> Admission {
        if let lease = Lease(slot) { return .success(lease) }
        return .failure(slots.first { $0.slot == slot }?.refusal ?? .calledStopped)
    }

    /// Returns the admission of a call that a pending change waits for, or `nil` if the call may wait at the gate.
    mutating func admissionAside(at slot: Slot, _ call: Call) -> Admission? {
        let hold = hold
        guard !passage.isEmpty || hold.map({ !$0.successors.isEmpty || $0.leaving != nil }) ?? false else { return nil }
        let call = slot.appended(to: call)
        if let hold, call.path.contains(where: hold.successors.contains),
            let admission = lease(at: slot, { $0.leaseNext() })
        {
            return admission
        }
        if call.mayHaveCome(throughOneOf: passage), let admission = lease(at: slot, { $0.lease(\.passing) }) {
            return admission
        }
        return hold?.leaving.flatMap { $0.holdsUp(call) ? .failure(.calledGoes) : nil }
    }

    fileprivate mutating func lease(at slot: Slot, _ take: (inout GateSlot) -> Lease?) -> Admission? {
        guard let index = slots.firstIndex(where: { $0.slot == slot }) else { return nil }
        return take(&slots[index]).map(Admission.success)
    }
}

extension Call {
    /// Returns whether the call may have come through one of these components, as far as its path shows.
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

    /// The error for a call to a component that the caller must not wait for.
    static var calledGoes: BackplaneError {
        BackplaneError(
            .callRetired,
            "the called component is being restarted together with one that this call came through, so the call cannot wait for it; call again"
        )
    }
}
