import Synchronization

/// The numbers of open streams by consumer, for all components of a host.
///
/// When a component ends, all others are searched for streams that it has opened, unless it has none.
final class StreamConsumers: Sendable {
    private let open = Mutex<[UInt32: Int]>([:])

    /// Returns whether a component has opened a stream whose body may not have returned.
    func have(_ consumer: UInt16) -> Bool { open.withLock { $0[UInt32(consumer)] != nil } }

    func add(_ consumer: UInt32) { open.withLock { $0[consumer, default: 0] += 1 } }

    func remove(_ consumer: UInt32) {
        open.withLock { open in
            let left = (open[consumer] ?? 1) - 1
            open[consumer] = left > 0 ? left : nil
        }
    }
}
