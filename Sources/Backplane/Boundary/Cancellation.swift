import Synchronization

/// Cancels what was started across the boundary, whichever comes first: its id or the wish to cancel it.
package struct Cancellation: Sendable {
    private final class State: Sendable {
        let value = Mutex((id: UInt64(0), isCancelled: false))
    }
    private let send: @Sendable (UInt64) -> Void
    private let state = State()

    package init(_ send: @escaping @Sendable (UInt64) -> Void) { self.send = send }

    /// - Parameter id: 0 when it has ended already.
    package func began(_ id: UInt64) {
        let isCancelled = state.value.withLock { value in
            value.id = id
            return value.isCancelled
        }
        if isCancelled, id != 0 { send(id) }
    }

    package func cancel() {
        let id = state.value.withLock { value in
            value.isCancelled = true
            return value.id
        }
        if id != 0 { send(id) }
    }
}
