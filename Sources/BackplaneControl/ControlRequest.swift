public import Backplane
public import BackplaneHost
import Synchronization

/// A handler for one kind of request, with which a program extends its ``ControlSocket``.
public struct ControlRequest: Sendable {
    let name: String
    /// A Boolean value that indicates whether the request is abandoned when its client disconnects.
    let endsWithClient: Bool
    /// A Boolean value that indicates whether the request serves recovery and therefore has reserved permits.
    let endsTrouble: Bool
    /// A Boolean value that indicates whether the request lasts until its client ends it.
    let isLasting: Bool
    let answer: @Sendable (PluginHost, [UInt8], ControlWork) async throws(BackplaneError) -> [UInt8]

    /// The requests that every host answers, besides the handshake.
    static let ofEveryHost = [
        SwapRequest.handler, PreviewRequest.handler, RollbackRequest.handler, ApplyRequest.handler,
        ResetRequest.handler, GenerationsRequest.handler, StatisticsRequest.handler, LogLevelsRequest.handler,
        EventsRequest.handler, CallRequest.handler, StreamRequest.handler, StoreRequest.handler,
        CacheRequest.handler, CredentialsRequest.handler, TransfersRequest.handler, BeginTransferRequest.handler,
        ChangeTransferRequest.handler, WatchTransferRequest.handler, OperationsRequest.handler,
        OperationRequest.handler, WatchOperationRequest.handler, ChangeOperationRequest.handler,
    ]

    /// Creates a handler for a type of request.
    ///
    /// - Parameters:
    ///   - message: The type of the request.
    ///   - endsWithClient: Whether the request's task is cancelled and abandoned when its client disconnects, as it
    ///     should be for a request that only reads.
    ///   - answer: The function that answers the request, on one of the socket's own threads, which it may block.
    public init<Message: ControlMessage>(
        _ message: Message.Type, endsWithClient: Bool = false,
        _ answer: @escaping @Sendable (PluginHost, Message) async throws(BackplaneError) -> Message.Answer
    ) {
        self.init(message, endsWithClient: endsWithClient) { host, message, _ throws(BackplaneError) in
            try await answer(host, message)
        }
    }

    init<Message: ControlMessage>(
        _: Message.Type, endsWithClient: Bool = false, endsTrouble: Bool = false, isLasting: Bool = false,
        _ answer: @escaping @Sendable (PluginHost, Message, ControlWork) async throws(BackplaneError) -> Message.Answer
    ) {
        (name, self.endsWithClient) = (Message.name, endsWithClient || isLasting)
        (self.endsTrouble, self.isLasting) = (endsTrouble, isLasting)
        self.answer = { host, bytes, work throws(BackplaneError) in
            let message = try ControlText.message(Message.self, in: bytes)
            return try JSON.encode(try await answer(host, message, work), failing: .controlFailed)
        }
    }
}

/// A request in progress, on a separate thread, so that a plugin that blocks the request occupies no other thread.
final class ControlWork: Sendable {
    typealias Outcome = Result<[UInt8], BackplaneError>
    private struct State {
        /// The outcome of the work, or the reason why the work was abandoned.
        var outcome: Outcome?
        var deadline: Deadline?
        var sent = 0
    }
    private let state = Mutex(State())
    /// The signal that is raised after each change of the state.
    private let changed: WakeSignal
    private let thread = CallingThread()
    private let elementLimit: Duration
    private let reportLimit: Duration
    private let countStrays: @Sendable (Int) -> Void
    private let send: Send

    /// A function that sends a line to the client within a time limit, and returns whether the client read it.
    typealias Send = @Sendable (_ line: [UInt8], _ limit: Duration?) -> Bool

    /// Creates work that has not been started.
    ///
    /// - Parameters:
    ///   - elementLimit: The time within which the client must read an element.
    ///   - reportLimit: The time within which the client must read a report of progress.
    ///   - countStrays: A function called with 1 when the work is abandoned, and with -1 when it ends nevertheless.
    /// - Throws: `control.busy` if the system cannot open another file.
    init(
        elementLimit: Duration, reportLimit: Duration, countStrays: @escaping @Sendable (Int) -> Void,
        _ send: @escaping Send
    ) throws(BackplaneError) {
        (self.elementLimit, self.reportLimit) = (elementLimit, reportLimit)
        (self.countStrays, self.send) = (countStrays, send)
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
        state.withLock { $0.sent += 1 }
    }

    func send(_ element: some Encodable) throws(BackplaneError) {
        try send(element: try JSON.encode(element, failing: .controlFailed))
    }

    var sent: Int { state.withLock { $0.sent } }

    /// Sets the time after which the request is abandoned if a plugin still blocks the thread.
    func expectEnd(within limit: Duration) {
        state.withLock { $0.deadline = .now + limit }
        changed.raise()
    }

    /// Starts the work; returns `false` if the system cannot create a thread.
    func start(_ work: @escaping @Sendable () async -> Outcome) -> Bool {
        HostThread.tryStart("bp-request") { [self] in
            if !end(thread.run(work)) { countStrays(-1) }
        }
    }

    /// Waits for the outcome of the work, or for an error if it is abandoned.
    ///
    /// - Parameter client: The socket whose closing by the peer ends the wait, or `nil` to ignore it.
    func wait(for client: LocalSocket?) -> Outcome {
        while true {
            let (outcome, deadline) = state.withLock { ($0.outcome, $0.deadline) }
            if let outcome { return outcome }
            if let deadline, deadline <= .now {
                abandon(
                    BackplaneError(
                        .callDeadline,
                        "the deadline passed; the call was abandoned, but still occupies its thread"))
            } else if let client {
                guard client.waitForHangUp(or: changed, until: deadline) else { continue }
                abandon(BackplaneError(.callCancelled, "the client has disconnected"))
            } else {
                changed.wait(until: deadline)
            }
        }
    }

    /// Ends the wait for the outcome with an error, and cancels the work as soon as possible, unless it has ended.
    func abandon(_ error: BackplaneError) {
        guard end(.failure(error)) else { return }
        countStrays(1)
        thread.cancel()
    }

    /// Ends the wait for the outcome; returns `false` if it had ended.
    private func end(_ outcome: Outcome) -> Bool {
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.outcome = outcome
            return true
        }
        if isFirst { changed.raise() }
        return isFirst
    }
}
