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
    /// Returns the name of a method of the called component for ``BackplaneError/calls``; `nil` if it is unknown.
    func name(of method: String) -> String?
}

/// The result of waiting at a closed slot: a lease, which the caller ends, or an error.
package typealias Admission = Result<Lease, BackplaneError>

/// The gatekeeper of a slot without a gate, which is always open or never.
final class NoEntry: Gatekeeper {
    private let refusal = Admission.failure(.calledStopped)
    /// The name of the called contract, which stands for the unknown component.
    private let contract: String?

    init(to contract: String? = nil) { self.contract = contract }

    func wait(at slot: Slot, _ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        done(refusal)
        return 0
    }

    func cancel(_ id: UInt64) {}
    func admitNow(at slot: Slot, _ call: Call) -> Admission { refusal }
    func name(of method: String) -> String? { contract.map { "\($0).\(method)" } }
}

extension BackplaneError {
    package static var calledStopped: BackplaneError {
        BackplaneError(.callRetired, "the called component or its host has stopped")
    }
}

extension bp_gate {
    /// Returns the gate of a slot, which calls the gatekeeper and lives as long as the process.
    ///
    /// - Parameter methods: The methods of the slot's contract.
    static func keeping(_ gatekeeper: any Gatekeeper, _ methods: [MethodDescription]) -> UnsafePointer<bp_gate> {
        let gate = UnsafeMutablePointer<bp_gate>.allocate(capacity: 1)
        gate.initialize(
            to: bp_gate(
                owner: Box((keeper: gatekeeper, methods: methods)).toContext(),
                wait: { slot, frame, done, context in
                    let context = ForeignPointer(raw: context)
                    return slotOwner(slot).keeper.wait(at: Slot(slot), Call(frame.pointee)) {
                        $0.hand(to: done, context.raw)
                    }
                },
                cancel: { slot, id in slotOwner(slot).keeper.cancel(id) },
                admit_now: { slot, frame, done, context in
                    slotOwner(slot).keeper.admitNow(at: Slot(slot), Call(frame.pointee)).hand(to: done, context)
                },
                name: { slot, member, done, context in
                    let owner = slotOwner(slot)
                    let method = owner.methods.indices.contains(member) ? owner.methods[member].name : "\(member)"
                    (owner.keeper.name(of: method) ?? "").withBytes { done(context, Int32(BP_OK), $0) }
                }))
        return UnsafePointer(gate)
    }
}

private typealias Owner = (keeper: any Gatekeeper, methods: [MethodDescription])

private func slotOwner(_ slot: UnsafeMutablePointer<bp_slot>) -> Owner {
    Unmanaged<Box<Owner>>.fromOpaque(slot.pointee.gate.pointee.owner).takeUnretainedValue().value
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
