import Backplane
import Synchronization

/// An instant in an exchange, which is set once.
final class Moment: Sendable {
    private let state = Mutex<Deadline?>(nil)

    /// The time; `nil` before it is set.
    var time: Deadline? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
