import Synchronization

/// What came before a function returned, on whatever thread.
final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)
    var value: Value? { stored.withLock { $0 } }
    func set(_ new: Value) { stored.withLock { $0 = new } }
}
