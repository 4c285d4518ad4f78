import Backplane
import BackplaneHost
import Synchronization

/// A request that is being answered, on a thread of its own: a plugin's function may keep that thread, and nobody else then.
final class ControlWork: Sendable {
    typealias Outcome = Result<[UInt8], BackplaneError>
    private enum Look {
        case outcome(Outcome), limit
        /// Look again after a change, or at this moment.
        case later(Deadline?)
    }
    private struct State {
        var outcome: Outcome?
        var deadline: Deadline?
        /// Nobody waits for the outcome.
        var isAbandoned = false
    }
    private let state = Mutex(State())
    /// Raised after each change of the state.
    private let changed: WakeSignal
    private let thread = CallingThread()
    private let send: @Sendable (ControlEvent) -> Void

    /// - Throws: `control.busy`.
    init(_ send: @escaping @Sendable (ControlEvent) -> Void) throws(BackplaneError) {
        self.send = send
        do throws(SystemError) { changed = try WakeSignal() } catch {
            throw BackplaneError(.controlBusy, "the system gives the host no more open files: \(error)")
        }
    }

    /// Tells whoever asked how far it is.
    func report(_ event: ControlEvent) { send(event) }

    /// Says that it is to be given up after this time, should a plugin keep the thread until then.
    func expectEnd(within limit: Duration) {
        state.withLock { $0.deadline = .now + limit }
        changed.raise()
    }

    /// Does the work; `false` when the system gives no thread for it.
    ///
    /// - Parameter ended: called at its end; with `true` where nobody has waited for that.
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
    /// - Parameter client: nobody waits any longer once this socket's other end is gone; `nil`: that makes no difference.
    /// - Returns: `nil`: it is given up, and is told so as soon as it can be.
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

    /// - Returns: an outcome that has come just now.
    private func abandon() -> Outcome? {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.isAbandoned = true }
            return state.outcome
        }
        if outcome == nil { thread.cancel() }
        return outcome
    }
}
