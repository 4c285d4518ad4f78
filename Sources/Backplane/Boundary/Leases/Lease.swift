import CBackplane

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
