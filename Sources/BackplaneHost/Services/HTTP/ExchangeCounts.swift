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

/// The counts of a component's HTTP exchanges since it, or its first predecessor, started.
public struct ExchangeStatistics: Sendable, Hashable {
    /// The number of exchanges that were started.
    public var begun: Int
    /// The number of those exchanges that ended with an error, not including cancelled ones.
    public var failed: Int
    /// The number of exchanges in flight.
    public var inFlight: Int
    /// The number of bytes of request bodies that were sent.
    public var sent: Int
    /// The number of bytes of response bodies that were received, after decoding.
    public var received: Int

    package init(begun: Int = 0, failed: Int = 0, inFlight: Int = 0, sent: Int = 0, received: Int = 0) {
        (self.begun, self.failed, self.inFlight, self.sent, self.received) = (begun, failed, inFlight, sent, received)
    }

    /// Returns the sums of two counts.
    package static func + (a: Self, b: Self) -> Self {
        Self(
            begun: a.begun + b.begun, failed: a.failed + b.failed, inFlight: a.inFlight + b.inFlight,
            sent: a.sent + b.sent, received: a.received + b.received)
    }
}
