import Synchronization

/// The slots that the SDK makes itself, one for each wire however often it is looked up: a slot is never freed.
final class OwnSlots: Sendable {
    // Few, and for a dictionary the runtime would look for `Hashable` in all that is loaded.
    private let slots = Mutex<[(wire: UInt64, slot: Slot)]>([])

    /// - Parameter make: `nil` when there is no way to make one.
    func slot(of wire: UInt64, _ make: () -> Slot?) -> Slot? {
        slots.withLock { slots in
            if let known = slots.first(where: { $0.wire == wire }) { return known.slot }
            guard let new = make() else { return nil }
            slots.append((wire, new))
            return new
        }
    }
}
