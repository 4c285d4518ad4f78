import Synchronization

/// The cancellation of an operation across the boundary, whether it is requested before or after its id is known.
package struct Cancellation: Sendable {
    private final class State: Sendable {
        let value = Mutex((id: UInt64(0), isCancelled: false))
    }
    private let send: @Sendable (UInt64) -> Void
    private let state = State()

    package init(_ send: @escaping @Sendable (UInt64) -> Void) { self.send = send }

    /// Sets the operation's id, and cancels it if that has been requested.
    ///
    /// - Parameter id: The id; 0 if the operation has already ended.
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
