import Synchronization

/// The slots that the SDK creates itself, one per wire, no matter how often it is looked up.
///
/// A slot is never freed.
final class OwnSlots: Sendable {
    // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let slots = Mutex<[(wire: UInt64, slot: Slot)]>([])

    /// Returns the slot of a wire, creating it if necessary.
    ///
    /// - Parameter make: Creates the slot; returns `nil` if that is not possible.
    func slot(of wire: UInt64, _ make: () -> Slot?) -> Slot? {
        slots.withLock { slots in
            if let known = slots.first(where: { $0.wire == wire }) { return known.slot }
            guard let new = make() else { return nil }
            slots.append((wire, new))
            return new
        }
    }
}
