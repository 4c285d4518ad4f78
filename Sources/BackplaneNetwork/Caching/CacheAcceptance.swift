import Synchronization

/// The acceptance of a response, without which it is not stored in a cache.
package final class CacheAcceptance: Sendable {
    private let accepted: @Sendable () -> Void
    private let dropped: @Sendable () -> Void
    private let isAccepted = Mutex(false)

    /// - Parameters:
    ///   - accepted: A function that is called with the first acceptance.
    ///   - dropped: A function that is called if the response is released without one.
    package init(accepted: @escaping @Sendable () -> Void, dropped: @escaping @Sendable () -> Void = {}) {
        (self.accepted, self.dropped) = (accepted, dropped)
    }

    deinit { if !isAccepted.withLock(\.self) { dropped() } }

    /// Stores the response; later calls do nothing.
    package func accept() {
        let isFirst = isAccepted.withLock { isAccepted in
            defer { isAccepted = true }
            return !isAccepted
        }
        if isFirst { accepted() }
    }
}
