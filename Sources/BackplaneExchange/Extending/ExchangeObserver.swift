public import BackplaneNetwork
import Synchronization

/// An observer that receives the stages of exchanges in order, without delaying them.
///
/// ```swift
/// let printer = ExchangeObserver { event in print(event.stage.rawValue, event.url) }
/// let network = HTTPPipeline([executor], observers: [printer])
/// ```
///
/// No exchange waits for an observer or fails because of it. A slow observer misses events: it receives only the latest
/// progress, and additional events are dropped once 1,000 are queued.
public final class ExchangeObserver: Sendable {
    private struct State {
        var queue = EventQueue()
        var isDelivering = false
        var hasFailed = false
    }
    /// The function that is called synchronously within exchanges; `nil` if events are delivered asynchronously.
    private let within: (@Sendable (ExchangeEvent) -> Void)?
    private let deliver: @Sendable (ExchangeEvents) async throws -> Void
    private let failed: @Sendable (any Error) -> Void
    private let state = Mutex(State())

    /// Creates an observer from a function, which receives one event at a time.
    ///
    /// - Parameter observe: A function that handles an event. Its errors are ignored.
    public convenience init(_ observe: @escaping @Sendable (ExchangeEvent) async throws -> Void) {
        self.init(
            batches: { batch in
                for event in batch.events { try? await observe(event) }
            }, failed: { _ in })
    }

    /// Creates an observer from a function that receives all queued events at once.
    ///
    /// - Parameter failed: A function that is called with the first error, and again with the first error after each
    ///   success.
    package init(
        batches deliver: @escaping @Sendable (ExchangeEvents) async throws -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        (self.deliver, self.failed, within) = (deliver, failed, nil)
    }

    /// Creates an observer from a function that is called synchronously within exchanges, and must not block.
    package init(within: @escaping @Sendable (ExchangeEvent) -> Void) {
        (self.within, deliver, failed) = (within, { _ in }, { _ in })
    }

    /// Adds an event, which is delivered once the function has handled all earlier events.
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

/// A bounded queue of events for a slow observer, with only the latest progress of each exchange.
package struct EventQueue: Sendable {
    /// The maximum number of queued events; additional ones are dropped and counted.
    static let most = 1_000
    private var events: [ExchangeEvent] = []
    /// The indices of the latest progress events, by exchange.
    private var progress: [UInt64: Int] = [:]
    private var lost = 0

    package init() {}

    package mutating func add(_ event: ExchangeEvent) {
        let isProgress = event.stage == .progress
        if isProgress, let place = progress[event.exchange] {
            events[place] = event
            return
        }
        guard events.count < Self.most else { return lost += 1 }
        progress[event.exchange] = isProgress ? events.count : nil
        events.append(event)
    }

    /// Removes and returns all queued events; returns `nil` if there are none.
    package mutating func take() -> ExchangeEvents? {
        guard !events.isEmpty else { return nil }
        defer { self = EventQueue() }
        return ExchangeEvents(events: events, lost: lost)
    }
}

/// The stage that notifies observers of each attempt, and of the head of its response.
struct ObservationStage: PipelineStage {
    let next: any HTTPExecutor
    let observed: ObservedExchange

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        observed.attempted(request)
        let response = try await next.open(request, options)
        observed.headed(response)
        return response
    }
}
