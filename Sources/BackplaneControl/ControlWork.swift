import Backplane
import BackplaneHost
import Synchronization

/// A request in progress, on a thread of its own, so that a plugin which blocks it keeps no other thread.
final class ControlWork: Sendable {
    typealias Outcome = Result<[UInt8], BackplaneError>
    private enum Look {
        case outcome(Outcome), limit
        /// Look again after a change of state, or at this time.
        case later(Deadline?)
    }
    private struct State {
        var outcome: Outcome?
        var deadline: Deadline?
        /// A Boolean value that indicates whether the outcome is no longer awaited.
        var isAbandoned = false
    }
    private let state = Mutex(State())
    /// The signal that is raised after each change of the state.
    private let changed: WakeSignal
    private let thread = CallingThread()
    private let send: @Sendable (ControlEvent) -> Void

    /// Creates work that has not been started.
    ///
    /// - Throws: `control.busy` if the system provides no more open files.
    init(_ send: @escaping @Sendable (ControlEvent) -> Void) throws(BackplaneError) {
        self.send = send
        do throws(SystemError) { changed = try WakeSignal() } catch {
            throw BackplaneError(.controlBusy, "the host cannot open more files: \(error)")
        }
    }

    /// Reports progress to the client.
    func report(_ event: ControlEvent) { send(event) }

    /// Sets the time after which the request is abandoned if a plugin still blocks the thread.
    func expectEnd(within limit: Duration) {
        state.withLock { $0.deadline = .now + limit }
        changed.raise()
    }

    /// Starts the work; returns `false` if the system provides no thread for it.
    ///
    /// - Parameter ended: Called when the work ends, with whether it had been abandoned.
    func start(_ work: @escaping @Sendable () async -> Outcome, ended: @escaping @Sendable (Bool) -> Void) -> Bool {
        HostThread.tryStart("bp-request") { [self] in
            let outcome = thread.run(work)
            let isAbandoned = state.withLock { state in
                state.outcome = outcome
                return state.isAbandoned
            }
            changed.raise()
            ended(isAbandoned)
        }
    }

    /// Waits for the outcome.
    ///
    /// - Parameter client: The socket whose closing by the peer ends the wait, or `nil` to ignore it.
    /// - Returns: The outcome, or `nil` if the work was abandoned, and is cancelled as soon as possible.
    func wait(for client: LocalSocket?) -> Outcome? {
        while true {
            switch look() {
            case .outcome(let outcome): return outcome
            case .limit: return abandon()
            case .later(let deadline):
                if let client {
                    if client.waitForHangUp(or: changed, until: deadline) { return abandon() }
                } else {
                    changed.wait(until: deadline)
                }
            }
        }
    }

    private func look() -> Look {
        state.withLock { state in
            if let outcome = state.outcome { return .outcome(outcome) }
            if let deadline = state.deadline, deadline <= .now { return .limit }
            return .later(state.deadline)
        }
    }

    /// Abandons the work, unless its outcome has just arrived, which is then returned.
    private func abandon() -> Outcome? {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.isAbandoned = true }
            return state.outcome
        }
        if outcome == nil { thread.cancel() }
        return outcome
    }
}
