import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Synchronization

/// The exchanges of a host that load something, for all its plugins and the program.
///
/// A streamed exchange counts until the head of its response.
///
/// Activity is reported only after a while, because most exchanges are short.
final class NetworkActivity: Sendable {
    private struct State {
        /// The numbers of the exchanges.
        var loading: Set<UInt64> = []
        var isReported = false
        var observation: ExchangeObservation?
    }
    private static let patience = Duration.milliseconds(100)
    private let alarm = Race.newAlarm()
    private let clock: any DeadlineClock
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())

    /// Observes the exchanges that begin from now on.
    ///
    /// - Parameter changed: A function that is called after each change of ``isReported``, and must not block.
    init(of host: PluginHost, _ changed: @escaping @Sendable () -> Void) {
        (clock, self.changed) = (host.clock, changed)
        let observation = host.observeExchanges { [weak self] event in self?.add(event) }
        state.withLock { $0.observation = observation }
    }

    deinit { clock.cancel(alarm) }

    var isReported: Bool { state.withLock(\.isReported) }

    private func add(_ event: ExchangeEvent) {
        let starts = event.stage == .start
        // A streamed exchange may never end, such as a stream of events.
        guard starts || event.stage == .end || event.stage == .head && event.isStreamed else { return }
        let (begins, ends) = state.withLock { state in
            let wasLoading = !state.loading.isEmpty
            if starts { state.loading.insert(event.exchange) } else { state.loading.remove(event.exchange) }
            let isLoading = !state.loading.isEmpty, ends = state.isReported && !isLoading
            if ends { state.isReported = false }
            return (isLoading && !wasLoading, ends)
        }
        if begins { clock.schedule(alarm, at: clock.moment + Self.patience) { [weak self] in self?.report() } }
        if ends { changed() }
    }

    private func report() {
        let isNew = state.withLock { state in
            guard !state.loading.isEmpty, !state.isReported else { return false }
            state.isReported = true
            return true
        }
        if isNew { changed() }
    }
}
