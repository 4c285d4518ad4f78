import Backplane

/// One slot of a gate, and the bindings that belong to it.
struct GateSlot {
    let slot: Slot
    /// The binding in the slot while the gate is open.
    var binding: Binding
    /// The decision about the slot at the next opening of the gate, or `nil` if there is none yet.
    var next: Result<Binding, BackplaneError>?
    /// The reason why this slot stays closed although the gate is open.
    var refusal: BackplaneError?

    // While the gate is not open, calls are counted by separate bindings, created for the first such call.

    /// The count of synchronous calls into `binding`, for which no change waits.
    var aside: Binding?
    /// The count of calls into `binding` that return through the component behind the gate.
    var passing: Binding?
    /// The count of calls into `next`.
    var early: Binding?

    init(_ slot: Slot, _ binding: Binding, refusal: BackplaneError? = nil) {
        (self.slot, self.binding, self.refusal) = (slot, binding, refusal)
    }

    var asides: [Binding] { [aside, passing, early].compactMap(\.self) }

    /// Returns a lease of `binding` that is counted by the binding at `place`, or `nil` if this slot stays closed.
    mutating func lease(_ place: WritableKeyPath<GateSlot, Binding?>) -> Lease? {
        guard refusal == nil else { return nil }
        return take(place, binding)
    }

    /// Returns a lease of the next binding, or `nil` if it has not been decided or the slot will stay closed.
    mutating func leaseNext() -> Lease? {
        guard case .success(let next) = next else { return nil }
        return take(\.early, next)
    }

    private mutating func take(_ place: WritableKeyPath<GateSlot, Binding?>, _ binding: Binding) -> Lease {
        let twin = self[keyPath: place] ?? binding.twin()
        self[keyPath: place] = twin
        return Lease(into: twin)
    }

    /// Opens the slot with the next binding, or the current one, and returns the bindings that this removes.
    mutating func open() -> [Binding] {
        let asides = asides
        (aside, passing, early) = (nil, nil, nil)
        switch next ?? refusal.map(Result.failure) ?? .success(binding) {
        case .success(let next):
            let old = binding
            slot.flip(to: next)
            (binding, refusal, self.next) = (next, nil, nil)
            return (old == next ? [] : [old]) + asides
        case .failure(let error):
            slot.flip(to: nil)
            // No new call reaches the old binding: it keeps counting as retired.
            let old = binding
            (binding, refusal, next) = (old.twin(), error, nil)
            return [old] + asides
        }
    }
}
