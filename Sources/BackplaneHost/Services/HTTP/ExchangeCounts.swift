import Backplane
import Synchronization

/// The counts of the exchanges of one component and its successors in swaps.
final class ExchangeCounts: Sendable {
    private let begun = Atomic(0)
    private let ended = Atomic(0)
    private let failed = Atomic(0)
    private let sent = Atomic(0)
    private let received = Atomic(0)

    func began() { begun.wrappingAdd(1, ordering: .relaxed) }

    func ended(_ error: BackplaneError?) {
        ended.wrappingAdd(1, ordering: .relaxed)
        if let error, error.code != .callCancelled { failed.wrappingAdd(1, ordering: .relaxed) }
    }

    func sent(_ count: Int) { sent.wrappingAdd(count, ordering: .relaxed) }

    func received(_ count: Int) { received.wrappingAdd(count, ordering: .relaxed) }

    var statistics: ExchangeStatistics {
        let ended = ended.load(ordering: .relaxed), begun = begun.load(ordering: .relaxed)
        return ExchangeStatistics(
            begun: begun, failed: failed.load(ordering: .relaxed), inFlight: max(0, begun - ended),
            sent: sent.load(ordering: .relaxed), received: received.load(ordering: .relaxed))
    }
}

/// The counts of all components, which outlive their instances.
final class ExchangeAccounts: Sendable {
    /// The identity of a component across swaps.
    struct Owner: Hashable {
        var plugin: String
        var role: Role
        var name: String
        /// The first manager that uses the component.
        var manager: String
    }
    private let counts = Mutex<[Owner: ExchangeCounts]>([:])

    /// Returns the counts of a component.
    func counts(of owner: Owner) -> ExchangeCounts {
        counts.withLock { counts in
            if let found = counts[owner] { return found }
            let new = ExchangeCounts()
            counts[owner] = new
            return new
        }
    }
}
