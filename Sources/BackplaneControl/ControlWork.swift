import Backplane
import BackplaneHost
import Synchronization

/// A request that is being answered, on a thread of its own: a plugin's function may keep that thread, and nobody else then.
final class ControlWork: Sendable {
    typealias Outcome = Result<[UInt8], BackplaneError>
    private enum Look {
        case outcome(Outcome), limit, nothing
    }
    private struct State {
        var outcome: Outcome?
        var deadline: Deadline?
        /// Nobody waits for the outcome.
        var isAbandoned = false
    }
    private let state = Monitor(State())
    private let send: @Sendable (ControlEvent) -> Void

    init(_ send: @escaping @Sendable (ControlEvent) -> Void) { self.send = send }

    /// Tells whoever asked how far it is.
    func report(_ event: ControlEvent) { send(event) }

    /// Says that it is to be given up after this time, should a plugin keep the thread until then.
    func expectEnd(within limit: Duration) {
        state.withLock { $0.deadline = .now + limit }
    }

    /// Does the work; `false` when the system gives no thread for it.
    ///
    /// - Parameter ended: called at its end; with `true` where nobody has waited for that.
    func start(_ work: @escaping @Sendable () async -> Outcome, ended: @escaping @Sendable (Bool) -> Void) -> Bool {
        HostThread.tryStart("bp-request") { [self] in
            let outcome = CallingThread.run(cancelledWhen: { state.withLock { $0.isAbandoned } }, work)
            ended(
                state.withLock { state in
                    state.outcome = outcome
                    return state.isAbandoned
                })
        }
    }

    /// Waits for the outcome.
    ///
    /// - Parameter isUnwanted: looked at four times a second; once it is `true` nobody waits any longer.
    /// - Returns: `nil`: it is given up, and is told so as soon as it can be.
    func wait(until isUnwanted: () -> Bool) -> Outcome? {
        while true {
            switch look(until: .now + .milliseconds(250)) {
            case .outcome(let outcome): return outcome
            case .limit: return nil
            case .nothing: if isUnwanted() { return abandon() }
            }
        }
    }

    private func look(until moment: Deadline) -> Look {
        state.wait { state in
            if let outcome = state.outcome { return .done(.outcome(outcome)) }
            if let deadline = state.deadline, deadline <= .now {
                state.isAbandoned = true
                return .done(.limit)
            }
            return moment <= .now ? .done(.nothing) : .until(state.deadline.map { min($0, moment) } ?? moment)
        }
    }

    /// - Returns: an outcome that has come just now.
    private func abandon() -> Outcome? {
        state.withLock { state in
            if state.outcome == nil { state.isAbandoned = true }
            return state.outcome
        }
    }
}
