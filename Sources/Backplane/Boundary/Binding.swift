import CBackplane

/// What a slot holds while it is open: cells, and the count of the calls that use them. Never freed.
package struct Binding: @unchecked Sendable {       // C atomics (lease.h); cells are constant
    let pointer: UnsafeMutablePointer<bp_binding>

    package init(_ cells: Cells) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: bp_binding(cells: cells.pointer, keeper: nil, entered: 0, left: 0))
    }

    /// Calls under way; once it has been taken out of its slot, 0 is for good.
    package var callsInFlight: UInt64 { bp_in_flight(pointer) }
}

extension Slot {
    /// Puts a binding in, in place of what was there, which from now on only drains.
    package func open(with binding: Binding) {
        _ = bp_flip(pointer, binding.pointer)
    }

    /// Takes out what is there: calls under way go on, new ones are refused.
    package func close() {
        _ = bp_flip(pointer, nil)
    }
}
