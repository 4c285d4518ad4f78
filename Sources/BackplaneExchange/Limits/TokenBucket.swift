import Backplane

/// The tokens of a rate limit: one for each request, up to a number that may be taken at once.
///
/// The time at which the bucket will be full is its whole state, so that nothing is counted while time passes.
struct TokenBucket: Equatable {
    /// The time in which one token is added.
    var interval: Duration
    /// The number of tokens in a full bucket.
    var burst: Int
    private var full: Deadline?

    init(interval: Duration, burst: Int) { (self.interval, self.burst) = (interval, burst) }

    /// Returns the time from which a token can be taken, which is not before now.
    func available(at now: Deadline) -> Deadline {
        guard let full else { return now }
        return max(now, full + interval * (1 - burst))
    }

    /// Takes a token that is ``available(at:)`` now.
    mutating func take(at now: Deadline) { full = max(full ?? now, now) + interval }

    /// Makes the bucket at most empty, after its interval or its burst has changed.
    mutating func refit(at now: Deadline) { full = full.map { min($0, now + interval * burst) } }

    func isFull(at now: Deadline) -> Bool { full.map { $0 <= now } ?? true }
}
