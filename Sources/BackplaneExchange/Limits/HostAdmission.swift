import Backplane

/// The admission of requests to one host by its limits, as a state machine without a clock.
///
/// A request passes the breaker, the concurrency and the rate, or waits in a queue for the latter two. If the queue is
/// full, the sender with the most waiting requests loses its newest one.
struct HostAdmission {
    enum Refusal: Equatable {
        case queueFull
        /// - until: The time at which the breaker lets a request through, unless a probe decides before.
        case breakerOpen(until: Deadline)
    }
    enum Decision: Equatable {
        /// - round: That of the breaker, to which the outcome belongs.
        case admitted(round: Int?)
        case refused(Refusal)
    }
    typealias Decided = (id: UInt64, decision: Decision)

    private(set) var limits: HostLimits
    private(set) var running = 0
    private(set) var refused = 0
    private(set) var breaker: CircuitBreaker?
    private var queue = FairQueue()
    private var bucket: TokenBucket?

    init(_ limits: HostLimits) {
        self.limits = limits
        adopt()
    }

    var waiting: Int { queue.count }

    /// Adds a request, and returns what is decided about it and others.
    mutating func arrive(_ id: UInt64, from sender: String?, at now: Deadline) -> [Decided] {
        queue.add(id, from: sender)
        var decided = decide(at: now)
        if queue.count > limits.waiting, let loser = queue.removeNewest(of: sender) {
            decided.append(refuse(loser, .queueFull))
        }
        return decided
    }

    /// Removes a request that no longer waits for its turn; returns `false` if it does not wait.
    mutating func leave(_ id: UInt64) -> Bool { queue.remove(id) }

    /// Takes note of the outcome of an admitted request, which continues until its body ends.
    mutating func decided(_ outcome: CircuitBreaker.Outcome, of round: Int, at now: Deadline) -> [Decided] {
        breaker?.ended(outcome, of: round, at: now)
        return decide(at: now)
    }

    /// Takes back the place of an admitted request.
    mutating func end(at now: Deadline) -> [Decided] {
        running -= 1
        return decide(at: now)
    }

    /// Changes the limits; what runs and waits, the rate's tokens and the breaker's state remain.
    mutating func change(to limits: HostLimits, at now: Deadline) -> [Decided] {
        self.limits = limits
        adopt()
        bucket?.refit(at: now)
        return decide(at: now)
    }

    /// Decides about the requests that wait, as far as it is possible now.
    mutating func decide(at now: Deadline) -> [Decided] {
        var decided: [Decided] = []
        while queue.count > 0 {
            guard breaker?.admits(at: now) ?? true else {
                let until = breaker?.until ?? now
                while let id = queue.removeFirst() { decided.append(refuse(id, .breakerOpen(until: until))) }
                break
            }
            guard hasPlace, bucket.map({ $0.available(at: now) <= now }) ?? true, let id = queue.removeFirst() else {
                break
            }
            running += 1
            bucket?.take(at: now)
            decided.append((id, .admitted(round: breaker?.begin(at: now))))
        }
        return decided
    }

    /// Returns the time at which the rate admits the next request; `nil` if none waits for that.
    func wake(at now: Deadline) -> Deadline? { queue.count > 0 && hasPlace ? bucket?.available(at: now) : nil }

    /// Returns whether the state is that of a host without any requests.
    func isIdle(at now: Deadline) -> Bool {
        let isClosed = breaker.map { $0.state == .closed(failures: 0) } ?? true
        return !isBusy && isClosed && bucket?.isFull(at: now) ?? true
    }

    /// A Boolean value that indicates whether requests run or wait.
    var isBusy: Bool { running > 0 || queue.count > 0 }

    private var hasPlace: Bool { limits.concurrent.map { running < $0 } ?? true }

    private mutating func refuse(_ id: UInt64, _ refusal: Refusal) -> Decided {
        refused += 1
        return (id, .refused(refusal))
    }

    private mutating func adopt() {
        breaker = limits.breaker.map { settings in
            var adopted = breaker ?? CircuitBreaker(settings)
            adopted.settings = settings
            return adopted
        }
        bucket = limits.perSecond.map { rate in
            var adopted = bucket ?? TokenBucket(interval: .zero, burst: 1)
            (adopted.interval, adopted.burst) = (.seconds(1 / rate), limits.burst)
            return adopted
        }
    }
}

extension CircuitBreaker {
    /// The time at which the breaker lets a request through in any case; `nil` while it is closed.
    var until: Deadline? {
        switch state {
        case .closed: nil
        case .open(let until), .halfOpen(_, _, let until): until
        }
    }
}
