import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Synchronization

/// The exchanges of a host that have not ended, of all its plugins and of the program.
///
/// Their presence is reported once it has lasted for a while, because most exchanges are short.
final class NetworkActivity: Sendable {
    private struct State {
        var exchanges: Set<UInt64> = []
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
        switch event.stage {
        case .start:
            let isFirst = state.withLock { $0.exchanges.insert(event.exchange).inserted && $0.exchanges.count == 1 }
            if isFirst { clock.schedule(alarm, at: clock.moment + Self.patience) { [weak self] in self?.report() } }
        case .end:
            let wasReported = state.withLock { state in
                state.exchanges.remove(event.exchange)
                guard state.exchanges.isEmpty else { return false }
                defer { state.isReported = false }
                return state.isReported
            }
            if wasReported { changed() }
        default: break
        }
    }

    private func report() {
        let isNew = state.withLock { state in
            guard !state.exchanges.isEmpty, !state.isReported else { return false }
            state.isReported = true
            return true
        }
        if isNew { changed() }
    }
}
