import Backplane
import BackplaneNetwork
import Synchronization

/// The times of the head and of the last piece of the body, as far as the limits of an exchange watch them.
final class Arrival: Sendable {
    private let state = Mutex<(head: Deadline?, last: Deadline?)>((nil, nil))
    private let wait = Mutex(Duration.zero)

    /// The time for which a passed limit of the whole exchange still waits for a stale response.
    var patience: Duration {
        get { wait.withLock(\.self) }
        set { wait.withLock { $0 = newValue } }
    }

    /// The times of the head and of the last progress of the body; the latter is `nil` while no body is read.
    var times: (head: Deadline?, last: Deadline?) { state.withLock(\.self) }
    var head: Deadline? { state.withLock { $0.head } }

    func begin(at time: Deadline) { state.withLock { $0 = (time, time) } }

    func advance(to time: Deadline) { state.withLock { $0.last = time } }

    func pause() { state.withLock { $0.last = nil } }
}

/// The limits of a body that is read on demand, which one alarm watches while it is read.
final class BodyLimits: Sendable {
    private struct State {
        var waiting: Deadline?
        var isScheduled = false
        var hasEnded = false
    }
    private let pieces: PieceChannel
    private let length: Int64?
    private let clock: any DeadlineClock
    private let alarm = Race.newAlarm()
    /// A function that returns the time at which a read is late that waits since a given time, and the error then.
    private let limit: @Sendable (Deadline) -> (end: Deadline, error: BackplaneError)
    private let state = Mutex(State())

    init(
        _ body: HTTPBodyStream, _ clock: any DeadlineClock,
        _ limit: @escaping @Sendable (Deadline) -> (end: Deadline, error: BackplaneError)
    ) {
        (pieces, length, self.clock, self.limit) = (PieceChannel(body), body.length, clock, limit)
    }

    var body: HTTPBodyStream {
        HTTPBodyStream(length: length) { try await self.next() }
            .tapped(ended: { self.end($0 ?? CancellationError()) })
    }

    private func next() async throws -> [UInt8]? {
        let now = clock.moment
        let begins = state.withLock { state in
            defer { state.isScheduled = true }
            state.waiting = now
            return !state.isScheduled
        }
        if begins { check() }
        defer { state.withLock { $0.waiting = nil } }
        return try await pieces.next()
    }

    /// Ends the body if the read that waits is late, or looks again later.
    private func check() {
        let since = state.withLock { state -> Deadline? in
            if state.waiting == nil || state.hasEnded { state.isScheduled = false }
            return state.hasEnded ? nil : state.waiting
        }
        guard let since else { return }
        let (end, error) = limit(since)
        guard end > clock.moment else { return self.end(error) }
        clock.schedule(alarm, at: end) { [weak self] in self?.check() }
        if state.withLock(\.hasEnded) { clock.cancel(alarm) }
    }

    private func end(_ error: any Error) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        clock.cancel(alarm)
        pieces.fail(error)
    }
}
