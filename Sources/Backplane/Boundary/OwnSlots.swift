import Synchronization

/// The slots that the SDK makes itself, one for each wire however often it is looked up: a slot is never freed.
final class OwnSlots: Sendable {
    private let slots = Mutex<[UInt64: Slot]>([:])

    /// - Parameter make: `nil` when there is no way to make one.
    func slot(of wire: UInt64, _ make: () -> Slot?) -> Slot? {
        slots.withLock { slots in
            if let known = slots[wire] { return known }
            let new = make()
            slots[wire] = new
            return new
        }
    }
}
