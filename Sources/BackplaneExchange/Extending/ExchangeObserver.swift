public import BackplaneNetwork
import Synchronization

/// A function that is told the stages of exchanges, in order and beside them.
///
/// ```swift
/// let printer = ExchangeObserver { event in print(event.stage.rawValue, event.url) }
/// let network = HTTPPipeline([executor], observers: [printer])
/// ```
///
/// No exchange waits for an observer or fails with it. One that is slow misses events: of progress it is told the
/// latest, and of 1,000 others that wait, further ones are dropped.
public final class ExchangeObserver: Sendable {
    private struct State {
        var queue = EventQueue()
        var isDelivering = false
        var hasFailed = false
    }
    /// The function that is called within the exchanges; `nil` if events are delivered beside them.
    private let within: (@Sendable (ExchangeEvent) -> Void)?
    private let deliver: @Sendable (ExchangeEvents) async throws -> Void
    private let failed: @Sendable (any Error) -> Void
    private let state = Mutex(State())

    /// Creates an observer from a function, which is told one event after the other.
    ///
    /// - Parameter observe: Takes an event. What it throws is ignored.
    public convenience init(_ observe: @escaping @Sendable (ExchangeEvent) async throws -> Void) {
        self.init(
            batches: { batch in
                for event in batch.events { try? await observe(event) }
            }, failed: { _ in })
    }

    /// Creates an observer from a function that takes all events that have gathered.
    ///
    /// - Parameter failed: Called with the first error, and again with the first one after a success.
    package init(
        batches deliver: @escaping @Sendable (ExchangeEvents) async throws -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        (self.deliver, self.failed, within) = (deliver, failed, nil)
    }

    /// Creates an observer from a function that is called within the exchanges, which it must not hold up.
    package init(within: @escaping @Sendable (ExchangeEvent) -> Void) {
        (self.within, deliver, failed) = (within, { _ in }, { _ in })
    }

    /// Adds an event, which is delivered once the function has taken all before it.
    func note(_ event: ExchangeEvent) {
        if let within { return within(event) }
        let begins = state.withLock { state in
            defer { state.isDelivering = true }
            state.queue.add(event)
            return !state.isDelivering
        }
        if begins { Task { await run() } }
    }

    private func run() async {
        while let batch = state.withLock({ state in
            let batch = state.queue.take()
            state.isDelivering = batch != nil
            return batch
        }) {
            do {
                try await deliver(batch)
                state.withLock { $0.hasFailed = false }
            } catch {
                let isFirst = state.withLock { state in
                    defer { state.hasFailed = true }
                    return !state.hasFailed
                }
                if isFirst { failed(error) }
            }
        }
    }
}
