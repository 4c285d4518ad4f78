import Backplane
import BackplaneBoundary
import Synchronization

/// What components were asked to do and have not done, so that a host that stops can give it up.
final class StepsUnderWay: Sendable {
    private struct State {
        var errors: [UInt64: BackplaneError] = [:]
        var isOver = false
    }
    private let state = Mutex(State())

    /// - Parameter error: what it ends with if it is given up; at once, when all was given up already.
    func add(_ id: UInt64, _ error: BackplaneError) {
        let isOver = state.withLock { state in
            if !state.isOver { state.errors[id] = error }
            return state.isOver
        }
        if isOver { Callbacks.end(id, EncodedAnswer(error)) }
    }

    func remove(_ id: UInt64) {
        state.withLock { _ = $0.errors.removeValue(forKey: id) }
    }

    /// Ends all that is under way, and whatever begins from now on.
    func giveUp() {
        let errors = state.withLock { state in
            state.isOver = true
            return state.errors
        }
        for (id, error) in errors { Callbacks.end(id, EncodedAnswer(error)) }
    }
}
