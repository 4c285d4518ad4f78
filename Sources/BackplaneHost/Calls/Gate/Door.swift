import Backplane

/// One slot of a gate, and what it holds while the gate is open.
struct Door {
    let slot: Slot
    /// In force while the gate is open.
    var binding: Binding
    /// What will be in force when the gate is opened next, where that was decided already.
    var next: Result<Binding, BackplaneError>?
    /// Why this one stays closed though the gate is open.
    var refusal: BackplaneError?

    // While the gate is not open, calls are counted apart. Made when the first of them comes.

    /// Synchronous calls into `binding`, which nobody waits for.
    var aside: Binding?
    /// Calls into `binding` that come back through what is behind the gate.
    var passing: Binding?
    /// Calls into `next`.
    var early: Binding?

    init(_ slot: Slot, _ binding: Binding, refusal: BackplaneError? = nil) {
        (self.slot, self.binding, self.refusal) = (slot, binding, refusal)
    }

    var asides: [Binding] { [aside, passing, early].compactMap(\.self) }

    /// A lease of what was in force, counted as `place` says; `nil` where this stays closed.
    mutating func lease(_ place: WritableKeyPath<Door, Binding?>) -> Lease? {
        guard refusal == nil else { return nil }
        return take(place, binding)
    }

    /// A lease of what will be in force; `nil` where that is not decided, or this stays closed.
    mutating func leaseNext() -> Lease? {
        guard case .success(let next) = next else { return nil }
        return take(\.early, next)
    }

    private mutating func take(_ place: WritableKeyPath<Door, Binding?>, _ binding: Binding) -> Lease {
        let twin = self[keyPath: place] ?? binding.twin()
        self[keyPath: place] = twin
        return Lease(into: twin)
    }

    /// Opens with what was decided, or what was in force; returns the bindings that this took out.
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
            // Nothing new comes to what it had: that counts on as retired.
            let old = binding
            (binding, refusal, next) = (old.twin(), error, nil)
            return [old] + asides
        }
    }
}
