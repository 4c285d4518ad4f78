package import CBackplane

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

    /// Returns a binding with the same cells, a count of its own and the same way of counting.
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
    /// Taking a binding out of a slot costs a barrier.
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
