import Synchronization

/// A clock that goes backwards each time that it is looked at, and on which nobody has to wait.
final class BackwardClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }
    private let time = Mutex(Duration.zero)

    var now: Instant {
        time.withLock { time in
            time -= .seconds(10)
            return Instant(offset: time)
        }
    }
    var minimumResolution: Duration { .seconds(10) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}
