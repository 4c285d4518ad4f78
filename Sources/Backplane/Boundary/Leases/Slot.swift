public import CBackplane

/// The place a wire calls through: what is in it may change while calls are under way.
///
/// Slots are made by the host and never freed, since a ``Wire`` may be kept for ever.
@frozen @usableFromInline
package struct Slot: @unchecked Sendable {       // the slot is C atomics (lease.h), and lives as long as the process
    @usableFromInline package let pointer: UnsafeMutablePointer<bp_slot>

    package init(_ pointer: UnsafeMutablePointer<bp_slot>) { self.pointer = pointer }

    /// As it is handed to a plugin.
    package var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// A new, closed slot for wires of component `number`; the gatekeeper is kept for as long as the process lives.
    package init(number: UInt32, gatekeeper: any Gatekeeper) {
        pointer = bp_slot_new(number, bp_gate.keeping(gatekeeper))
    }

    /// A slot that nothing is ever put into.
    static let closed = Slot(number: 0, gatekeeper: NoEntry())

    /// Calls what is in the slot, and waits at its gate while it is closed.
    ///
    /// - Throws: `call.retired` when it stays closed, `call.deadline` when it is too late, and whatever the method throws.
    @inlinable @inline(__always)
    nonisolated(nonsending) func call<Input, Output>(_ member: Int, _ input: Input, _ call: Call) async throws(BackplaneError) -> Output {
        try call.checkDeadline()
        let binding = if let open = bp_enter(pointer) { open } else { try await admission(of: call) }
        defer { bp_leave(binding) }
        return try await bp_cell(binding, member).assumingMemoryBound(to: AsyncCell<Input, Output>.self).pointee
            .invoke(input, call, from: pointer.pointee.number)
    }

    /// Calls what is in the slot, without waiting. Throws as `call` does.
    @inlinable @inline(__always)
    func callNow<Input, Output>(_ member: Int, _ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        try call.checkDeadline()
        let binding = if let open = bp_enter(pointer) { open } else { try immediateAdmission(of: call) }
        defer { bp_leave(binding) }
        return try bp_cell(binding, member).assumingMemoryBound(to: SyncCell<Input, Output>.self).pointee
            .invoke(input, call, from: pointer.pointee.number)
    }
}
