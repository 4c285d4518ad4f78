import Backplane
import BackplaneHost
import Synchronization

/// A request in progress, on a separate thread, so that a plugin that blocks it occupies no other thread.
final class ControlWork: Sendable {
    typealias Outcome = Result<[UInt8], BackplaneError>
    /// The reason why the wait for an outcome ended.
    enum Ending {
        case outcome(Outcome)
        /// The time limit has passed.
        case overdue
        case clientGone
        case hostStopped
    }
    private enum Look {
        case ended(Ending)
        /// The state must be checked again, after a change or at this time.
        case later(Deadline?)
    }
    private struct State {
        var outcome: Outcome?
        var deadline: Deadline?
        var hostHasStopped = false
        /// A Boolean value that indicates whether the outcome is no longer awaited.
        var isAbandoned = false
    }
    private let state = Mutex(State())
    /// The signal that is raised after each change of the state.
    private let changed: WakeSignal
    private let thread = CallingThread()
    private let elementLimit: Duration
    private let reportLimit: Duration
    private let send: Send

    /// A function that sends a line to the client within a time limit, and returns whether the client read it.
    typealias Send = @Sendable (_ line: [UInt8], _ limit: Duration?) -> Bool

    /// Creates work that has not been started.
    ///
    /// - Parameters:
    ///   - elementLimit: The time within which the client must read an element.
    ///   - reportLimit: The time within which it must read a report of progress.
    /// - Throws: `control.busy` if the system cannot open another file.
    init(elementLimit: Duration, reportLimit: Duration, _ send: @escaping Send) throws(BackplaneError) {
        (self.elementLimit, self.reportLimit, self.send) = (elementLimit, reportLimit, send)
        do throws(SystemError) { changed = try WakeSignal() } catch {
            throw BackplaneError(.controlBusy, "the host cannot open more files: \(error)")
        }
    }

    /// Reports progress to the client, and returns whether the client read the report.
    @discardableResult
    func report(_ event: ControlEvent) -> Bool { send(ControlText.event(event), reportLimit) }

    /// Sends an element of a lasting answer, as JSON.
    ///
    /// - Throws: `call.cancelled` if the client does not read it.
    func send(element json: [UInt8]) throws(BackplaneError) {
        guard send(ControlText.element(json), elementLimit) else {
            throw BackplaneError(.callCancelled, "the client does not read its answer")
        }
    }

    /// Sets the time after which the request is abandoned if a plugin still blocks the thread.
    func expectEnd(within limit: Duration) {
        state.withLock { $0.deadline = .now + limit }
        changed.raise()
    }

    /// Starts the work; returns `false` if the system cannot create a thread.
    ///
    /// - Parameter ended: A function that is called when the work ends, with a Boolean value that indicates whether it
    ///   had been abandoned.
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

    /// Ends the wait for the outcome, because the host has stopped.
    func hostHasStopped() {
        state.withLock { $0.hostHasStopped = true }
        changed.raise()
    }

    /// Waits for the outcome; work without an outcome at the end of the wait is abandoned, and cancelled as soon as
    /// possible.
    ///
    /// - Parameter client: The socket whose closing by the peer ends the wait, or `nil` to ignore it.
    func wait(for client: LocalSocket?) -> Ending {
        while true {
            switch look() {
            case .ended(let ending): return abandon(ending)
            case .later(let deadline):
                if let client {
                    if client.waitForHangUp(or: changed, until: deadline) { return abandon(.clientGone) }
                } else {
                    changed.wait(until: deadline)
                }
            }
        }
    }

    private func look() -> Look {
        state.withLock { state in
            if let outcome = state.outcome { return .ended(.outcome(outcome)) }
            if state.hostHasStopped { return .ended(.hostStopped) }
            if let deadline = state.deadline, deadline <= .now { return .ended(.overdue) }
            return .later(state.deadline)
        }
    }

    /// Abandons the work for a reason, unless its outcome has just arrived, which is then returned.
    private func abandon(_ ending: Ending) -> Ending {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.isAbandoned = true }
            return state.outcome
        }
        if let outcome { return .outcome(outcome) }
        thread.cancel()
        return ending
    }
}
