import BackplaneNetwork
import Synchronization

/// A count of the bytes of an exchange, in both directions, each change of which is reported.
final class ProgressMeter: Sendable {
    private let report: @Sendable (HTTPProgress) -> Void
    private let progress = Mutex(HTTPProgress())

    init(_ report: @escaping @Sendable (HTTPProgress) -> Void) { self.report = report }

    /// Starts to count a request's body, again if it is resent.
    func begin(sending length: Int64?) {
        progress.withLock { progress in (progress.sent, progress.toSend) = (0, length) }
    }

    /// Starts to count a response's body, again if another attempt follows.
    func begin(receiving length: Int64?) {
        progress.withLock { progress in (progress.received, progress.toReceive) = (0, length) }
    }

    func sent(_ count: Int) { change { $0.sent += Int64(count) } }

    @Sendable func sent(_ count: Int64, of length: Int64) {
        change { ($0.sent, $0.toSend) = (count, length > 0 ? length : $0.toSend) }
    }

    func received(_ count: Int) { change { $0.received += Int64(count) } }

    /// Changes the counts, and reports them before any further change.
    private func change(_ change: (inout HTTPProgress) -> Void) {
        progress.withLock { progress in
            change(&progress)
            report(progress)
        }
    }
}
