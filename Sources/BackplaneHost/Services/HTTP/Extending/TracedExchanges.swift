import BackplaneExchange
package import BackplaneNetwork
import Synchronization

/// The stages of the exchanges of one trace, which are collected until they are retrieved.
package final class TracedExchanges: Sendable {
    private struct State {
        var queue = EventQueue()
        var transcript = ExchangeTranscript()
    }
    private let state = Mutex(State())
    private let taps: ExchangeTaps
    private let number = Atomic<UInt64>(0)

    init(of trace: String, in taps: ExchangeTaps) {
        self.taps = taps
        let added = taps.add(of: trace) { [weak self] event in self?.state.withLock { $0.queue.add(event) } }
        number.store(added, ordering: .relaxed)
    }

    deinit { taps.remove(number.load(ordering: .relaxed)) }

    /// Removes and returns the collected stages, of which at most 1,000 are kept.
    package func take() -> [ExchangeEvent] { state.withLock { $0.queue.take()?.events ?? [] } }

    /// Removes and returns the collected stages, except for progress, as lines for display.
    package func takeLines() -> [String] {
        state.withLock { state in
            guard let batch = state.queue.take() else { return [] }
            return state.transcript.lines(batch)
        }
    }
}
