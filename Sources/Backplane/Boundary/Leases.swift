public import CBackplane

/// The location through which a wire calls.
///
/// Its content may change while calls are in flight.
///
/// Slots are created by the host, or by the SDK if the host has another lane revision. They are never freed, because a
/// ``Wire`` may be kept forever.
@frozen @usableFromInline
package struct Slot: @unchecked Sendable {  // the slot is C atomics (lease.h), and lives as long as the process
    @usableFromInline package let pointer: UnsafeMutablePointer<bp_slot>

    package init(_ pointer: UnsafeMutablePointer<bp_slot>) { self.pointer = pointer }

    /// The pointer that is passed to a plugin.
    package var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// Creates a closed slot for wires of component `number`.
    ///
    /// The gatekeeper is retained for the lifetime of the process.
    ///
    /// - Parameter methods: The methods of the wires' contract, which errors name.
    package init(number: UInt32, gatekeeper: any Gatekeeper, methods: [MethodDescription] = []) {
        pointer = bp_slot_new(number, bp_gate.keeping(gatekeeper, methods))
    }

    /// A slot that remains closed.
    static let closed = Slot(number: 0, gatekeeper: NoEntry())

    /// Calls the method through the slot's binding, and waits at the gate while the slot is closed.
    ///
    /// - Throws: `call.retired` if the slot stays closed; `call.deadline` if the deadline has passed; the method's
    ///   error.
    @inlinable @inline(__always)
    nonisolated(nonsending) func call<Input, Output, Failure: ContractFailure>(
        _ member: Int, _ input: Input, _ call: Call, _: Failure.Type
    ) async throws(Failure.Thrown) -> Output {
        do throws(BackplaneError) {
            try call.checkDeadline()
            let binding = if let open = bp_enter(pointer) { open } else { try await admission(of: call) }
            defer { bp_leave(binding) }
            return try await bp_cell(binding, member).assumingMemoryBound(to: AsyncCell<Input, Output>.self).pointee
                .invoke(input, call, from: pointer.pointee.number)
        } catch { throw Failure.thrown(naming(member, in: error)) }
    }

    /// Calls a synchronous method through the slot's binding, without waiting.
    ///
    /// Throws the errors of `call`.
    @inlinable @inline(__always)
    func callNow<Input, Output, Failure: ContractFailure>(
        _ member: Int, _ input: Input, _ call: Call, _: Failure.Type
    ) throws(Failure.Thrown) -> Output {
        do throws(BackplaneError) {
            try call.checkDeadline()
            let binding = if let open = bp_enter(pointer) { open } else { try immediateAdmission(of: call) }
            defer { bp_leave(binding) }
            return try bp_cell(binding, member).assumingMemoryBound(to: SyncCell<Input, Output>.self).pointee
                .invoke(input, call, from: pointer.pointee.number)
        } catch { throw Failure.thrown(naming(member, in: error)) }
    }

    /// Returns the error of a call through the slot, with the called method in ``BackplaneError/calls``.
    @inline(never) @usableFromInline
    func naming(_ member: Int, in error: BackplaneError) -> BackplaneError {
        let answer = PendingAnswer()
        pointer.pointee.gate.pointee.name(pointer, member, PendingAnswer.done, answer.toContext())
        guard let name = answer.now?.payload, !name.isEmpty else { return error }
        return error.of(call: String(decoding: name, as: UTF8.self))
    }
}

/// The content of an open slot: cells, and the count of the calls that use them.
///
/// Never freed.
package struct Binding: @unchecked Sendable {  // C atomics (lease.h); cells are constant
    package let pointer: UnsafeMutablePointer<bp_binding>

    /// Creates a binding that is in no slot.
    ///
    /// - Parameter keeper: The table that stores the streams opened natively through the binding.
    package init(_ cells: Cells, counting: LeaseCounting, keeper: EncodedTarget? = nil) {
        pointer = bp_binding_new(cells.pointer, counting.isRestartable ? 1 : 0)
        pointer.pointee.provider = keeper?.provider
    }

    /// Creates a binding for a slot that is called through the host.
    ///
    /// Instead of cells it holds the target that the host calls, which is retained for the lifetime of the process.
    package init(keeping target: some AnyObject & Sendable, counting: LeaseCounting) {
        let place = Unmanaged.passRetained(target).toOpaque().assumingMemoryBound(to: UnsafeRawPointer?.self)
        self.init(Cells(place), counting: counting)
    }

    /// Returns a binding with the same cells, its own count and the same way of counting.
    package func twin() -> Binding {
        Binding(
            Cells(pointer.pointee.cells), counting: LeaseCounting(isRestartable: pointer.pointee.restartable != 0),
            keeper: pointer.pointee.provider.map(EncodedTarget.init))
    }

    /// The number of calls started since the binding was created, or slightly more if slots were flipped under callers.
    package var callsBegun: UInt64 { bp_entered(pointer) }

    /// The number of calls in flight.
    ///
    /// Once the binding has been taken out of its slot and ``LeaseCounting/settle()`` has been called, 0 is final.
    package var callsInFlight: UInt64 { bp_in_flight(pointer) }
}

/// The way in which calls are counted in and out of bindings.
package struct LeaseCounting: Sendable {
    package let isRestartable: Bool

    /// Counting by plain additions in restartable sequences.
    ///
    /// Removing a binding from a slot costs a barrier.
    package static let restartable = LeaseCounting(isRestartable: true)
    /// Counting by atomic additions, which are available everywhere.
    package static let atomic = LeaseCounting(isRestartable: false)

    /// Returns whether the system supports restartable sequences, and registers the process for the barrier.
    package static func systemCanRestart() -> Bool { bp_can_restart() != 0 }

    /// Makes all previous flips visible to every caller, so that removed bindings only drain.
    ///
    /// This takes microseconds.
    package static func settle() { bp_barrier() }
}

extension Slot {
    /// Replaces the slot's binding; `nil` closes the slot.
    ///
    /// The previous binding, which is returned, only drains once ``LeaseCounting/settle()`` has been called.
    @discardableResult
    package func flip(to binding: Binding?) -> Binding? {
        bp_flip(pointer, binding?.pointer).map(Binding.init(pointer:))
    }
}

extension Binding {
    fileprivate init(pointer: UnsafeMutablePointer<bp_binding>) { self.pointer = pointer }
}

/// A call's hold on a binding, acquired by the host on behalf of a plugin that cannot do so itself.
package struct Lease: @unchecked Sendable {  // C atomics (lease.h)
    let binding: UnsafeMutablePointer<bp_binding>

    /// Takes a lease on the slot's binding; `nil` if the slot is closed.
    package init?(_ slot: Slot) {
        guard let binding = bp_enter(slot.pointer) else { return nil }
        self.binding = binding
    }

    init(taken binding: UnsafeMutablePointer<bp_binding>) { self.binding = binding }

    /// Takes a lease on a binding that is in no slot.
    ///
    /// The caller ensures that it is not released in the meantime.
    package init(into binding: Binding) {
        bp_count_in(binding.pointer)
        self.binding = binding.pointer
    }

    /// Returns the target that the host calls, for a binding that was created with one.
    package func target<Target: AnyObject>(_: Target.Type) -> Target {
        Unmanaged<Target>.fromOpaque(UnsafeRawPointer(binding.pointee.cells!)).takeUnretainedValue()
    }

    /// Counts the call out of the binding; must be called exactly once.
    package func end() {
        bp_leave(binding)
    }
}

extension Slot {
    /// The number of the component that calls through the slot; 0 for the host program.
    package var number: UInt32 { pointer.pointee.number }

    /// Returns the frame with the slot's component at the end of its path.
    package func appended(to call: Call) -> Call { call.made(by: pointer.pointee.number) }
}

extension Call {
    /// Returns the frame with a component at the end of its path.
    ///
    /// - Parameter number: The component's number; 0 changes nothing.
    package func made(by number: UInt32) -> Call {
        var call = self
        bp_call_append(&call.frame, number)
        return call
    }
}

extension Slot {
    /// Requests a leased binding from the gate, for a call that finds the slot closed.
    @inline(never) @usableFromInline
    nonisolated(nonsending) func admission(of call: Call) async throws(BackplaneError) -> UnsafeMutablePointer<
        bp_binding
    > {
        let cancellation = Cancellation { pointer.pointee.gate.pointee.cancel(pointer, $0) }
        let admission: Admission = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let context = Box<@Sendable (Admission) -> Void> { continuation.resume(returning: $0) }.toContext()
                cancellation.began(
                    call.withC { pointer.pointee.gate.pointee.wait(pointer, $0, admitted, context) })
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try admission.get().binding
    }

    /// Requests a leased binding for a synchronous call.
    @inline(never) @usableFromInline
    func immediateAdmission(of call: Call) throws(BackplaneError) -> UnsafeMutablePointer<bp_binding> {
        let admission = Received<Admission>()
        let context = Box<@Sendable (Admission) -> Void> { admission.set($0) }.toContext()
        call.withC { pointer.pointee.gate.pointee.admit_now(pointer, $0, admitted, context) }
        guard let admission = admission.value else {
            throw BackplaneError(.callRetired, "the gate did not answer a synchronous call before returning")
        }
        return try admission.get().binding
    }
}

private let admitted: bp_admitted = { context, status, binding, payload in
    Box<@Sendable (Admission) -> Void>.take(context)(Admission(status, binding, payload))
}

extension Admission {
    fileprivate init(_ status: Int32, _ binding: UnsafeMutablePointer<bp_binding>?, _ payload: bp_bytes) {
        if status == Int32(BP_OK), let binding {
            self = .success(Lease(taken: binding))
        } else {
            self = .failure(EncodedAnswer(status, payload).error)
        }
    }
}

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
