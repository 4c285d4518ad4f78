public import CBackplane

/// The place a wire calls through: what is in it may change while calls are under way.
///
/// Slots are made by the host and never freed, since a ``Wire`` may be kept for ever.
@frozen
public struct Slot: @unchecked Sendable {       // the slot is C atomics (lease.h), and lives as long as the process
    @usableFromInline let pointer: UnsafeMutablePointer<bp_slot>

    package init(_ pointer: UnsafeMutablePointer<bp_slot>) { self.pointer = pointer }

    /// A slot that nothing is ever put into.
    static let closed = Slot(number: 0)

    /// A new, closed slot for wires of component `number`.
    package init(number: UInt32) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: bp_slot(binding: nil, number: number, reserved: 0))
    }

    /// Calls what is in the slot. Throws `call.retired` when it is closed, `call.deadline` when it is too late.
    @inlinable @inline(__always)
    nonisolated(nonsending) func call<Input, Output>(_ member: Int, _ input: Input, _ call: Call) async throws(BackplaneError) -> Output {
        try call.checkDeadline()
        guard let binding = bp_enter(pointer) else { throw closedError() }
        defer { bp_leave(binding) }
        var frame = call
        bp_call_append(&frame.frame, pointer.pointee.number)
        return try await bp_cell(binding, member).assumingMemoryBound(to: AsyncCell<Input, Output>.self).pointee.invoke(input, frame)
    }

    /// Calls what is in the slot, without waiting. Throws as `call` does.
    @inlinable @inline(__always)
    func callNow<Input, Output>(_ member: Int, _ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        try call.checkDeadline()
        guard let binding = bp_enter(pointer) else { throw closedError() }
        defer { bp_leave(binding) }
        var frame = call
        bp_call_append(&frame.frame, pointer.pointee.number)
        return try bp_cell(binding, member).assumingMemoryBound(to: SyncCell<Input, Output>.self).pointee.invoke(input, frame)
    }

    @inline(never) @usableFromInline
    func closedError() -> BackplaneError {
        BackplaneError(.callRetired, "the component called has stopped, or its host has")
    }
}
