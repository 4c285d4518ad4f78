import Backplane
import BackplaneBoundary
import Synchronization

/// The steps of components in progress, which a stopping host can abandon.
final class StepsUnderWay: Sendable {
    private struct State {
        var errors: [UInt64: BackplaneError] = [:]
        var isOver = false
    }
    private let state = Mutex(State())

    /// Adds a step, or ends it immediately if all steps have already been abandoned.
    ///
    /// - Parameter error: The result of the step if it is abandoned.
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

    /// Ends all steps in progress, and every one that starts later.
    func giveUp() {
        let errors = state.withLock { state in
            state.isOver = true
            return state.errors
        }
        for (id, error) in errors { Callbacks.end(id, EncodedAnswer(error)) }
    }
}
