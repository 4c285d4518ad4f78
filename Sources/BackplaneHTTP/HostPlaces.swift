#if Engines
import Synchronization

/// The permits for exchanges with each host, one per connection; additional exchanges are queued.
///
/// Without them, AsyncHTTPClient would count the wait for a connection as connection time, and let it time out.
final class HostPlaces: Sendable {
    private struct Line {
        var taken = 0
        /// The waiting requests, in order; one that has given up is no longer in `waiting`, and soon not here either.
        var order: ArraySlice<UInt64> = []
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    }
    private let limit: Int
    private let lines = Mutex<[String: Line]>([:])
    /// The source of the numbers of waiting requests, which are never reused.
    private let numbers = Atomic<UInt64>(0)

    init(limit: Int) { self.limit = limit }

    func take(at host: String) async throws -> HostPlace {
        let number = lines.withLock { lines -> UInt64? in
            if lines[host, default: Line()].taken < limit {
                lines[host, default: Line()].taken += 1
                return nil
            }
            return numbers.wrappingAdd(1, ordering: .relaxed).newValue
        }
        if let number {
            let isPlaced = await withTaskCancellationHandler {
                await withCheckedContinuation { wait(at: host, number, $0) }
            } onCancel: {
                giveUp(at: host, number)
            }
            guard isPlaced else { throw CancellationError() }
        }
        let place = HostPlace { [self] in leave(host) }
        try Task.checkCancellation()  // releases the place
        return place
    }

    private func wait(at host: String, _ number: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        enum Step { case wait, go, cancelled }
        let step = lines.withLock { lines -> Step in
            if Task.isCancelled { return .cancelled }
            if lines[host, default: Line()].taken < limit {  // a place was freed in the meantime
                lines[host, default: Line()].taken += 1
                return .go
            }
            lines[host]!.order.append(number)
            lines[host]!.waiting[number] = continuation
            return .wait
        }
        if step != .wait { continuation.resume(returning: step == .go) }
    }

    private func giveUp(at host: String, _ number: UInt64) {
        let waiter = lines.withLock { lines in
            guard let waiter = lines[host]?.waiting.removeValue(forKey: number), let line = lines[host] else {
                return nil as CheckedContinuation<Bool, Never>?
            }
            if line.order.count > 2 * line.waiting.count {
                lines[host]?.order = line.order.filter { line.waiting[$0] != nil }[...]
            }
            return waiter
        }
        waiter?.resume(returning: false)
    }

    /// Passes the permit to the next request in the queue, or frees it.
    private func leave(_ host: String) {
        let next = lines.withLock { lines -> CheckedContinuation<Bool, Never>? in
            while let number = lines[host]?.order.popFirst() {
                if let next = lines[host]?.waiting.removeValue(forKey: number) { return next }
            }
            lines[host]?.taken -= 1
            if lines[host]?.taken == 0 { lines[host] = nil }
            return nil
        }
        next?.resume(returning: true)
    }
}

/// The permit of one exchange, which is freed at its end or with the value's release.
final class HostPlace: Sendable {
    private let leave: Mutex<(@Sendable () -> Void)?>

    init(_ leave: @escaping @Sendable () -> Void) { self.leave = Mutex(leave) }

    deinit { end() }

    func end() {
        leave.withLock { $0.take() }?()
    }
}

/// The origins to which a connection may be kept open, so that a request may use one that its server has just closed.
///
/// The library does not report whether a connection is new.
final class PooledOrigins: Sendable {
    /// The time for which idle connections are kept open, with a margin.
    private static let lifetime = Duration.seconds(90)
    private static let limit = 1_000
    private let answers = Mutex<[String: ContinuousClock.Instant]>([:])

    /// Records that an origin has responded, after which its connection may be kept open.
    func answered(_ origin: String) {
        let now = ContinuousClock.now
        answers.withLock { answers in
            answers[origin] = now
            guard answers.count > Self.limit else { return }
            answers = answers.filter { now - $0.value < Self.lifetime }
            if answers.count > Self.limit { answers = [origin: now] }  // others are not repeated
        }
    }

    func mayHaveConnection(to origin: String) -> Bool {
        let now = ContinuousClock.now
        return answers.withLock { $0[origin].map { now - $0 < Self.lifetime } ?? false }
    }
}
#endif
