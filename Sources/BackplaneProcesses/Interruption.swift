import Backplane
import Glibc
import Synchronization

/// Whether a signal has come that asks to stop, for what does not wait for signals itself.
package final class Interruption: Sendable {
    private struct State {
        var signal: Int32?
        /// What is waited for.
        var child: ChildProcess?
    }
    private let state = Mutex(State())

    package init() {}

    /// The first that came.
    package var signal: Int32? { state.withLock { $0.signal } }

    package func stop(_ signal: Int32) {
        let child = state.withLock { state in
            if state.signal == nil { state.signal = signal }
            return state.child
        }
        child?.stop(patience: Self.patience)
    }

    /// Says what is waited for from now on; it is ended at once where a signal has come already.
    package func wait(for child: ChildProcess) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.signal != nil
        }
        if isStopped { child.stop(patience: Self.patience) }
    }

    /// Ends what is waited for, however it takes that.
    package func kill() { state.withLock { $0.child }?.send(SIGKILL) }

    /// Tenths of a second: a package manager that only reads has nothing to put away.
    private static let patience = 10
}
