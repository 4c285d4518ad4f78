import CBackplane

/// A call's hold on what is in a slot, taken by the host for a plugin that cannot take it itself.
package struct Lease: @unchecked Sendable {     // C atomics (lease.h)
    private let binding: UnsafeMutablePointer<bp_binding>
    private let slot: Slot

    /// `nil`: the slot is closed.
    package init?(_ slot: Slot) {
        guard let binding = bp_enter(slot.pointer) else { return nil }
        (self.binding, self.slot) = (binding, slot)
    }

    /// The frame with the slot's component at the end of its path.
    package func appended(to call: Call) -> Call {
        var call = call
        bp_call_append(&call.frame, slot.pointer.pointee.number)
        return call
    }

    /// To be called once.
    package func end() {
        bp_leave(binding)
    }
}

extension Binding {
    /// For a slot that is called through the host: it has no cells.
    package static func withoutCells() -> Binding { Binding(Cells.none) }
}
