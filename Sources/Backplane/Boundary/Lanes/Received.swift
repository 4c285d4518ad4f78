import Synchronization

/// A value that another function sets, on any thread, before it returns.
package final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? { stored.withLock { $0 } }
    package func set(_ new: Value) { stored.withLock { $0 = new } }
}
