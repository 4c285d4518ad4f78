import Synchronization

/// What came before a function returned, on whatever thread.
package final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? { stored.withLock { $0 } }
    package func set(_ new: Value) { stored.withLock { $0 = new } }
}
