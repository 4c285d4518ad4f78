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
    nonisolated(nonsending) func call<Input, Output>(_ member: Int, _ input: Input, _ call: Call)
        async throws(BackplaneError) -> Output
    {
        do throws(BackplaneError) {
            try call.checkDeadline()
            let binding = if let open = bp_enter(pointer) { open } else { try await admission(of: call) }
            defer { bp_leave(binding) }
            return try await bp_cell(binding, member).assumingMemoryBound(to: AsyncCell<Input, Output>.self).pointee
                .invoke(input, call, from: pointer.pointee.number)
        } catch { throw naming(member, in: error) }
    }

    /// Calls a synchronous method through the slot's binding, without waiting.
    ///
    /// Throws the errors of `call`.
    @inlinable @inline(__always)
    func callNow<Input, Output>(_ member: Int, _ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        do throws(BackplaneError) {
            try call.checkDeadline()
            let binding = if let open = bp_enter(pointer) { open } else { try immediateAdmission(of: call) }
            defer { bp_leave(binding) }
            return try bp_cell(binding, member).assumingMemoryBound(to: SyncCell<Input, Output>.self).pointee
                .invoke(input, call, from: pointer.pointee.number)
        } catch { throw naming(member, in: error) }
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
