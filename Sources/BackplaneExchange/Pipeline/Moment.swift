import Synchronization

/// A moment of an exchange, once it has come.
final class Moment: Sendable {
    private let state = Mutex<ContinuousClock.Instant?>(nil)

    /// The time; `nil` before it has come.
    var time: ContinuousClock.Instant? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
