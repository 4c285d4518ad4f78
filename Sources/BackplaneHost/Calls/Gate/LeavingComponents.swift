import Backplane
import Synchronization

/// The numbers of the components that a change is stopping.
///
/// A call that comes through one of them must not wait for a component that starts after the change, because the change
/// waits for that call.
final class LeavingComponents: Sendable {
    private let numbers = Mutex<Set<UInt16>>([])

    func add(_ number: UInt16) {
        numbers.withLock { _ = $0.insert(number) }
    }

    /// Returns whether the change waits for a call.
    ///
    /// - Parameter call: The call, with the caller at the end of its path.
    func holdsUp(_ call: Call) -> Bool {
        numbers.withLock { numbers in !numbers.isEmpty && call.path.contains(where: numbers.contains) }
    }
}
