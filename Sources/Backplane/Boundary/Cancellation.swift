import CBackplane
import Synchronization

/// Cancels an encoded call whichever comes first, its id or the wish to cancel it.
struct Cancellation: Sendable {
    private final class State: Sendable {
        let value = Mutex((id: UInt64(0), isCancelled: false))
    }
    private let target: EncodedTarget
    private let state = State()

    init(_ target: EncodedTarget) { self.target = target }

    func began(_ id: UInt64) {
        let isCancelled = state.value.withLock { value in
            value.id = id
            return value.isCancelled
        }
        if isCancelled { send(id) }
    }

    func cancel() {
        let id = state.value.withLock { value in
            value.isCancelled = true
            return value.id
        }
        send(id)
    }

    /// 0 is a call that has not begun, or has ended already.
    private func send(_ id: UInt64) {
        if id != 0 { target.provider.pointee.cancel(target.provider.pointee.target, id) }
    }
}

/// What a synchronous call was answered with, on whatever thread.
final class Received: Sendable {
    private let answer = Mutex<EncodedAnswer?>(nil)
    var value: EncodedAnswer? { answer.withLock { $0 } }
    func set(_ new: EncodedAnswer) { answer.withLock { $0 = new } }
}
