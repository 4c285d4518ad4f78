import Backplane
import Synchronization

/// The components that a change has begun to stop, by their numbers.
///
/// A call that comes through one of them must not wait for what comes up after the change: the change waits for that call.
final class Retreat: Sendable {
    private let numbers = Mutex<Set<UInt16>>([])

    func add(_ number: UInt16) {
        numbers.withLock { _ = $0.insert(number) }
    }

    /// - Parameter call: with the caller at the end of its path.
    func holdsUp(_ call: Call) -> Bool {
        numbers.withLock { numbers in !numbers.isEmpty && call.path.contains(where: numbers.contains) }
    }
}
