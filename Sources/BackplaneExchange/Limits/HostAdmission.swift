import Backplane

/// The admission of requests to one host by its limits, as a state machine without a clock.
///
/// A request passes the breaker, the concurrency and the rate, or waits in a queue for concurrency and rate. If the
/// queue is full, the newest request of the sender with the most waiting requests is refused.
struct HostAdmission {
    enum Refusal: Equatable {
        case queueFull
        /// - until: The time at which the breaker lets a request through, unless a probe decides before.
        case breakerOpen(until: Deadline)
    }
    enum Decision: Equatable {
        /// - round: The round of the breaker to which the outcome belongs.
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

    /// Adds a request, and returns the decisions about it and other requests.
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

    /// Records the outcome of an admitted request, which continues until its body ends.
    mutating func decided(_ outcome: CircuitBreaker.Outcome, of round: Int, at now: Deadline) -> [Decided] {
        breaker?.ended(outcome, of: round, at: now)
        return decide(at: now)
    }

    mutating func end(at now: Deadline) -> [Decided] {
        running -= 1
        return decide(at: now)
    }

    /// Changes the limits; running and waiting requests, the rate's tokens and the breaker's state remain.
    mutating func change(to limits: HostLimits, at now: Deadline) -> [Decided] {
        self.limits = limits
        adopt()
        bucket?.refit(at: now)
        return decide(at: now)
    }

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

    /// Returns the time at which the rate admits the next request; `nil` if no request waits for the rate.
    func wake(at now: Deadline) -> Deadline? { queue.count > 0 && hasPlace ? bucket?.available(at: now) : nil }

    /// Returns whether the state is the initial one: nothing runs or waits, the breaker is closed, and the bucket is
    /// full.
    func isIdle(at now: Deadline) -> Bool {
        let isClosed = breaker.map { $0.state == .closed(failures: 0) } ?? true
        return !isBusy && isClosed && bucket?.isFull(at: now) ?? true
    }

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

/// A queue of requests that serves their senders in turn, and the requests of one sender in order.
struct FairQueue {
    private var waiting: [String?: [UInt64]] = [:]
    /// The senders with waiting requests, beginning with the next one.
    private var turns: [String?] = []
    private(set) var count = 0

    /// The request whose turn it is.
    var first: UInt64? { turns.first.flatMap { waiting[$0]?.first } }

    mutating func add(_ id: UInt64, from sender: String?) {
        if waiting[sender] == nil { turns.append(sender) }
        waiting[sender, default: []].append(id)
        count += 1
    }

    /// Removes the request whose turn it is; its sender's next turn comes after the turns of all other senders.
    mutating func removeFirst() -> UInt64? {
        guard let id = first else { return nil }
        let sender = turns.removeFirst()
        turns.append(sender)
        remove(id, from: sender)
        return id
    }

    /// Removes a request; returns `false` if it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let sender = turns.first(where: { waiting[$0]?.contains(id) == true }) else { return false }
        remove(id, from: sender)
        return true
    }

    /// Removes the newest request of the sender with the most requests; among equals, of the given sender.
    mutating func removeNewest(of sender: String?) -> UInt64? {
        func count(_ sender: String?) -> Int { waiting[sender]?.count ?? 0 }
        guard let longest = turns.max(by: { count($0) < count($1) }) else { return nil }
        let loser = count(longest) > count(sender) ? longest : sender
        guard let id = waiting[loser]?.last else { return nil }
        remove(id, from: loser)
        return id
    }

    private mutating func remove(_ id: UInt64, from sender: String?) {
        waiting[sender]?.removeAll { $0 == id }
        count -= 1
        guard waiting[sender]?.isEmpty == true else { return }
        waiting[sender] = nil
        turns.removeAll { $0 == sender }
    }
}

/// The tokens of a rate limit: one for each request, up to a number that may be taken at once.
///
/// Its whole state is the time at which the bucket will be full, so that nothing is counted while time passes.
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

    mutating func take(at now: Deadline) { full = max(full ?? now, now) + interval }

    /// Ensures that the bucket is not emptier than empty after its interval or its burst has changed.
    mutating func refit(at now: Deadline) { full = full.map { min($0, now + interval * burst) } }

    func isFull(at now: Deadline) -> Bool { full.map { $0 <= now } ?? true }
}
