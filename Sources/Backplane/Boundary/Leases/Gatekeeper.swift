import CBackplane

/// The authority that decides on calls that find their slot closed.
package protocol Gatekeeper: AnyObject, Sendable {
    /// Admits a call, immediately or later, and calls `done` exactly once.
    ///
    /// - Returns: An id for cancelling the wait; 0 if it has already ended.
    func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64
    func cancel(_ id: UInt64)
    /// Decides on a synchronous call, which cannot wait.
    func admitNow(at slot: Slot, _ call: Call) -> Admission
}

/// The result of waiting at a closed slot: a lease, which the caller ends, or an error.
package typealias Admission = Result<Lease, BackplaneError>

/// The gatekeeper of a slot that is never opened.
final class NoEntry: Gatekeeper {
    private let refusal = Admission.failure(.calledStopped)

    func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        done(refusal)
        return 0
    }

    func cancel(_ id: UInt64) {}
    func admitNow(at slot: Slot, _ call: Call) -> Admission { refusal }
}

extension BackplaneError {
    package static var calledStopped: BackplaneError {
        BackplaneError(.callRetired, "the called component or its host has stopped")
    }
}

extension bp_gate {
    /// Returns a gate that calls the gatekeeper and lives as long as the process.
    static func keeping(_ gatekeeper: any Gatekeeper) -> UnsafePointer<bp_gate> {
        let gate = UnsafeMutablePointer<bp_gate>.allocate(capacity: 1)
        gate.initialize(
            to: bp_gate(
                owner: Box(gatekeeper).toContext(),
                wait: { slot, frame, done, context in
                    let context = ForeignPointer(raw: context)
                    return keeper(of: slot).wait(at: Slot(slot), Call(frame.pointee)) { $0.hand(to: done, context.raw) }
                },
                cancel: { slot, id in keeper(of: slot).cancel(id) },
                admit_now: { slot, frame, done, context in
                    keeper(of: slot).admitNow(at: Slot(slot), Call(frame.pointee)).hand(to: done, context)
                }))
        return UnsafePointer(gate)
    }
}

private func keeper(of slot: UnsafeMutablePointer<bp_slot>) -> any Gatekeeper {
    Unmanaged<Box<any Gatekeeper>>.fromOpaque(slot.pointee.gate.pointee.owner).takeUnretainedValue().value
}

extension Admission {
    fileprivate func hand(to done: bp_admitted, _ context: UnsafeMutableRawPointer?) {
        switch self {
        case .success(let lease): done(context, Int32(BP_OK), lease.binding, .empty)
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context, answer.status, nil, $0) }
        }
    }
}
