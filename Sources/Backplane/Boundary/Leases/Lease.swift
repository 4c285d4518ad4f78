import CBackplane

/// A call's hold on what is in a slot, taken by the host for a plugin that cannot take it itself.
package struct Lease: @unchecked Sendable {     // C atomics (lease.h)
    let binding: UnsafeMutablePointer<bp_binding>

    /// `nil`: the slot is closed.
    package init?(_ slot: Slot) {
        guard let binding = bp_enter(slot.pointer) else { return nil }
        self.binding = binding
    }

    init(taken binding: UnsafeMutablePointer<bp_binding>) { self.binding = binding }

    /// To be called once.
    package func end() {
        bp_leave(binding)
    }
}

extension Slot {
    /// The frame with the slot's component at the end of its path.
    package func appended(to call: Call) -> Call {
        var call = call
        bp_call_append(&call.frame, pointer.pointee.number)
        return call
    }
}
