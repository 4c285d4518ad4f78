#if Engines
import Synchronization

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
