import Synchronization

/// The numbers of open streams by consumer, for all components of a host.
///
/// When a component ends, all others are searched for streams that it has opened, unless it has none. From then on it
/// opens no others: a request of its old code may have been admitted before.
final class StreamConsumers: Sendable {
    private struct State {
        var open: [UInt32: Int] = [:]
        var ended: Set<UInt32> = []
    }
    private let state = Mutex(State())

    /// Returns whether a component has opened a stream whose body may not have returned.
    func have(_ consumer: UInt16) -> Bool { state.withLock { $0.open[UInt32(consumer)] != nil } }

    /// Counts a stream; returns `false` if its consumer has ended.
    func add(_ consumer: UInt32) -> Bool {
        state.withLock { state in
            guard !state.ended.contains(consumer) else { return false }
            state.open[consumer, default: 0] += 1
            return true
        }
    }

    func remove(_ consumer: UInt32) {
        state.withLock { state in
            let left = (state.open[consumer] ?? 1) - 1
            state.open[consumer] = left > 0 ? left : nil
        }
    }

    /// Refuses streams of a component that has ended, until another one has its number.
    func end(_ consumer: UInt16) { _ = state.withLock { $0.ended.insert(UInt32(consumer)) } }

    /// Admits the streams of a component that has just received its number.
    func begin(_ consumer: UInt16) { _ = state.withLock { $0.ended.remove(UInt32(consumer)) } }
}
