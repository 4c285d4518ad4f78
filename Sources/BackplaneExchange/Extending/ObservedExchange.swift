import Backplane
import BackplaneNetwork
import Synchronization

/// The observation of one exchange, which notifies observers of its stages.
final class ObservedExchange: Sendable {
    private struct State {
        /// The last event, without the properties that apply only to it.
        var event: ExchangeEvent
        /// The announced length of the response's body.
        var length: Int64?
        var hasEnded = false
    }
    private let observers: [ExchangeObserver]
    private let clock: any DeadlineClock
    private let start: Deadline
    private let state: Mutex<State>

    /// Notifies the observers of the start of an exchange; returns `nil` if there are none.
    init?(_ request: HTTPRequest, _ options: HTTPOptions, _ observers: [ExchangeObserver], _ clock: any DeadlineClock) {
        guard !observers.isEmpty else { return nil }
        (self.observers, self.clock, start) = (observers, clock, clock.moment)
        var event = ExchangeEvent(
            .start, exchange: .random(in: 1..<(1 << 53)), method: request.method, url: request.printableURL,
            component: options.sender, trace: options.call?.trace?.id)
        event.attempt = options.attempt - 1
        state = Mutex(State(event: event))
        tell(.start)
    }

    /// Sends an event, with properties that later events keep, and others that apply only to this one.
    private func tell(
        _ stage: ExchangeEvent.Stage, _ change: (inout ExchangeEvent) -> Void = { _ in },
        once: (inout ExchangeEvent) -> Void = { _ in }
    ) {
        // Observers have the events in the order of the changes.
        state.withLock { state in
            guard !state.hasEnded else { return }
            change(&state.event)
            state.event.stage = stage
            state.event.after = (clock.moment - start).nanoseconds
            var event = state.event
            once(&event)
            state.hasEnded = stage == .end
            for observer in observers { observer.note(event) }
        }
    }

    func attempted(_ request: HTTPRequest) {
        tell(.attempt) { event in
            (event.method, event.url) = (request.method, request.printableURL)
            (event.attempt, event.status) = (event.attempt + 1, nil)
            (event.sent, event.received) = (0, 0)
        }
    }

    func headed(_ response: HTTPStreamedResponse) {
        state.withLock { $0.length = response.contentLength }
        tell(.head) { $0.status = response.status }
    }

    /// - Parameter error: The error of the attempt; `nil` if the response is the reason for the retry.
    func retries(after delay: Duration, _ error: BackplaneError.Code?) {
        tell(.retry, once: { ($0.delay, $0.error) = (delay.nanoseconds, error?.rawValue) })
    }

    func redirected(to request: HTTPRequest) {
        tell(.redirect) { ($0.method, $0.url) = (request.method, request.printableURL) }
    }

    /// Adds to the number of sent bytes of the request's body.
    func sent(_ count: Int64) {
        guard state.withLock({ $0.event.sent != count }) else { return }
        tell(.progress) { $0.sent = count }
    }

    /// Adds to the number of received bytes of the response's body, and reports the progress unless the body is
    /// complete.
    func received(_ count: Int) {
        let isComplete = state.withLock { state in
            guard state.event.received + Int64(count) == state.length else { return false }
            state.event.received += Int64(count)
            return true
        }
        if !isComplete { tell(.progress) { $0.received += Int64(count) } }
    }

    func ended(_ error: (any Error)?) {
        let error = error.map { BackplaneError(thrown: $0) }
        tell(.end, once: { $0.error = error?.code.rawValue })
    }

    /// Returns the response with a body whose end also ends the exchange.
    func watching(_ response: HTTPStreamedResponse) -> HTTPStreamedResponse {
        var response = response
        let body = response.body
        response.body = HTTPBodyStream(
            length: body.length,
            cancel: { [self] in
                body.cancel()
                ended(CancellationError())
            }
        ) { [self] in
            do {
                let chunk = try await body.next()
                if chunk == nil { ended(nil) }
                return chunk
            } catch {
                ended(error)
                throw error
            }
        }
        return response
    }
}
