import Synchronization

/// A value that is set by another function before that function returns, on any thread.
package final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? { stored.withLock { $0 } }
    package func set(_ new: Value) { stored.withLock { $0 = new } }
}
