import Synchronization

/// An instant in an exchange, which is set once.
final class Moment: Sendable {
    private let state = Mutex<ContinuousClock.Instant?>(nil)

    /// The time; `nil` before it is set.
    var time: ContinuousClock.Instant? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
