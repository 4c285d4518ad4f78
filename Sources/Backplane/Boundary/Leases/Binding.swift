package import CBackplane

/// What a slot holds while it is open: cells, and the count of the calls that use them. Never freed.
package struct Binding: @unchecked Sendable {        // C atomics (lease.h); cells are constant
    package let pointer: UnsafeMutablePointer<bp_binding>

    package init(_ cells: Cells, counting: LeaseCounting) {
        pointer = bp_binding_new(cells.pointer, counting.isRestartable ? 1 : 0)
    }

    /// For a slot that is called through the host: instead of cells it holds whom the host calls, which is kept as long as the process lives.
    package init(keeping target: some AnyObject & Sendable, counting: LeaseCounting) {
        let place = Unmanaged.passRetained(target).toOpaque().assumingMemoryBound(to: UnsafeRawPointer?.self)
        self.init(Cells(place), counting: counting)
    }

    /// The same cells with a count of their own, kept in the same way.
    package func twin() -> Binding {
        Binding(Cells(pointer.pointee.cells), counting: LeaseCounting(isRestartable: pointer.pointee.restartable != 0))
    }

    /// Calls that have begun since it was made; a few more where slots were flipped under callers.
    package var callsBegun: UInt64 { bp_entered(pointer) }

    /// Calls under way; once it was taken out of its slot and ``LeaseCounting/settle()`` was called, 0 is for good.
    package var callsInFlight: UInt64 { bp_in_flight(pointer) }
}

/// How calls are counted in and out of bindings.
package struct LeaseCounting: Sendable {
    package let isRestartable: Bool

    /// Plain adds in restartable sequences; whoever takes bindings out of slots pays with a barrier.
    package static let restartable = LeaseCounting(isRestartable: true)
    /// Atomic adds: everywhere.
    package static let atomic = LeaseCounting(isRestartable: false)

    /// Does this system have what restartable sequences need? Registers the process for the barrier.
    package static func systemCanRestart() -> Bool { bp_can_restart() != 0 }

    /// Makes all flips so far known to every caller: from then on the bindings taken out only drain. Costs microseconds.
    package static func settle() { bp_barrier() }
}

extension Slot {
    /// Puts a binding in, or closes the slot; what was there only drains once ``LeaseCounting/settle()`` was called.
    @discardableResult
    package func flip(to binding: Binding?) -> Binding? {
        bp_flip(pointer, binding?.pointer).map(Binding.init(pointer:))
    }
}

extension Binding {
    fileprivate init(pointer: UnsafeMutablePointer<bp_binding>) { self.pointer = pointer }
}
