package import Backplane
package import BackplaneNetwork
import Synchronization

/// The limits of a network for its hosts, with the requests that run and wait under them.
///
/// ```swift
/// let limits: NetworkLimits = ["books.example.org": HostLimits(perSecond: 10), "*": HostLimits(concurrent: 8)]
/// let network = HTTPPipeline([AsyncHTTPClientExecutor()], limits: limits)
/// ```
///
/// A key is a host's name (for all its ports), a name with a port, or `*` (for all other hosts). Each port of each host
/// is counted separately. Pipelines with the same limits share them, and so do all plugins of a host.
public final class NetworkLimits: Sendable, ExpressibleByDictionaryLiteral {
    /// The round of the breaker in which a request is permitted, and the limit of its response's body.
    private typealias Admission = (round: Int?, bodyLimit: Int?)
    private struct Waiter {
        var request: HTTPRequest
        var continuation: CheckedContinuation<Admission, any Error>
    }
    private typealias Outcome = (waiter: Waiter, result: Result<Admission, any Error>)

    private struct Host {
        let name: String
        let clock: any DeadlineClock
        var admission: HostAdmission
        var waiters: [UInt64: Waiter] = [:]
        private let alarm = Race.newAlarm()
        /// The time of the alarm; `nil` if no request waits for a token.
        private var alarmTime: Deadline?

        init(_ name: String, _ limits: HostLimits, _ clock: any DeadlineClock) {
            (self.name, self.clock, admission) = (name, clock, HostAdmission(limits))
        }

        /// Changes the admission, and sets the alarm for the next token if a request waits for it.
        mutating func change(
            _ change: (inout Host, Deadline) -> [HostAdmission.Decided], wake: @escaping @Sendable () -> Void
        ) -> [Outcome] {
            let now = clock.moment
            let outcomes = change(&self, now).compactMap { id, decision in
                waiters.removeValue(forKey: id).map {
                    (waiter: $0, result: result(of: decision, for: $0.request, at: now))
                }
            }
            let time = admission.wake(at: now)
            if time != alarmTime {
                alarmTime = time
                if let time { clock.schedule(alarm, at: time, wake) } else { clock.cancel(alarm) }
            }
            return outcomes
        }

        private func result(
            of decision: HostAdmission.Decision, for request: HTTPRequest, at now: Deadline
        ) -> Result<Admission, any Error> {
            switch decision {
            case .admitted(let round): .success((round, admission.limits.maximumBodySize))
            case .refused(let refusal): .failure(refusal.error(for: request, to: name, admission, at: now))
            }
        }
    }
    private struct State {
        var rules: [String: HostLimits]
        /// The hosts with requests so far, by name and port.
        var hosts: [String: Host] = [:]
        var lastID: UInt64 = 0
        /// The number of hosts at which hosts without requests are removed.
        var mostHosts = NetworkLimits.mostIdleHosts

        /// Removes hosts without requests if there are many: first the ones in their initial state.
        mutating func makeRoom(at now: Deadline) {
            guard hosts.count >= mostHosts else { return }
            hosts = hosts.filter { !$1.admission.isIdle(at: now) }
            if hosts.count >= NetworkLimits.mostIdleHosts { hosts = hosts.filter { $1.admission.isBusy } }
            mostHosts = max(NetworkLimits.mostIdleHosts, 2 * hosts.count)
        }
    }
    static let none = NetworkLimits()
    /// The number of hosts up to which the state of hosts without requests is kept.
    static let mostIdleHosts = 1_000
    private let state: Mutex<State>

    /// Creates limits by host; without any, every request is sent at once.
    public init(_ rules: [String: HostLimits] = [:]) { state = Mutex(State(rules: Self.keyed(rules))) }

    /// Creates limits by host; if a host has several, the first ones apply.
    public convenience init(dictionaryLiteral rules: (String, HostLimits)...) {
        self.init(Dictionary(rules) { first, _ in first })
    }

    /// Replaces the limits; requests that run or wait, the tokens of rates and the states of breakers remain.
    package func follow(_ rules: [String: HostLimits]) {
        let rules = Self.keyed(rules)
        let names = state.withLock { state in
            state.rules = rules
            return Array(state.hosts.keys)
        }
        for name in names {
            let limits = Self.rule(for: name, in: rules) ?? HostLimits()
            change(name) { host, now in host.admission.change(to: limits, at: now) }
        }
    }

    /// The activity for each host that has had requests under limits, sorted by host.
    public var statistics: [LimitStatistics] {
        state.withLock { $0.hosts }.map { LimitStatistics($0, $1.admission, at: $1.clock.moment) }
            .sorted { $0.host < $1.host }
    }

    private static func keyed(_ rules: [String: HostLimits]) -> [String: HostLimits] {
        Dictionary(rules.map { ($0 == "*" ? $0 : $0.nameKey, $1.bounded) }) { first, _ in first }
    }

    private static func rule(for name: String, in rules: [String: HostLimits]) -> HostLimits? {
        rules[name] ?? rules[String(name[..<(name.lastIndex(of: ":") ?? name.endIndex)])] ?? rules["*"]
    }

    /// Makes an attempt once the limits permit it, and releases its place at the end of the response's body.
    ///
    /// An attempt that is cancelled at `options.headDeadline` is a failure of the host.
    ///
    /// - Throws: `network.limited` before anything is sent; the errors of `send`; `CancellationError`.
    package func run(
        _ request: HTTPRequest, _ options: HTTPOptions, by clock: any DeadlineClock,
        _ send: () async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        guard let name = name(of: request) else { return try await send() }
        let permit = try await admit(request, to: name, from: options.sender, by: clock)
        do {
            let response = try await send()
            permit.decide(.init(status: response.status))
            return permit.holding(response, of: request)
        } catch {
            let isLate = error is CancellationError && options.headDeadline.map { $0 <= clock.moment } ?? false
            permit.decide(.init(error, isLate: isLate))
            permit.end()
            throw error
        }
    }

    /// Returns the host of a request by which it is counted; `nil` if there are no limits for it.
    private func name(of request: HTTPRequest) -> String? {
        let rules = state.withLock { $0.rules }
        guard !rules.isEmpty, let origin = HTTPOrigin(request.url) else { return nil }
        let name = "\(origin.host):\(origin.port)"
        return Self.rule(for: name, in: rules) == nil ? nil : name
    }

    private func admit(
        _ request: HTTPRequest, to name: String, from sender: String?, by clock: any DeadlineClock
    ) async throws -> NetworkPermit {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let (round, bodyLimit) = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Admission, any Error>) in
                change(name, by: clock) { host, now in
                    host.waiters[id] = Waiter(request: request, continuation: continuation)
                    return host.admission.arrive(id, from: sender, at: now)
                }
                // The handler may have run before the request waited.
                if Task.isCancelled { leave(id, name) }
            }
        } onCancel: {
            leave(id, name)
        }
        return NetworkPermit(self, name, round: round, bodyLimit: bodyLimit)
    }

    private func leave(_ id: UInt64, _ name: String) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.hosts[name]?.admission.leave(id) == true else { return nil }
            return state.hosts[name]?.waiters.removeValue(forKey: id)
        }
        guard let waiter else { return }
        change(name) { host, now in host.admission.decide(at: now) }
        waiter.continuation.resume(throwing: CancellationError())
    }

    fileprivate func decided(_ outcome: CircuitBreaker.Outcome, of round: Int, at name: String) {
        change(name) { host, now in host.admission.decided(outcome, of: round, at: now) }
    }

    fileprivate func end(at name: String) { change(name) { host, now in host.admission.end(at: now) } }

    /// Changes the state of a host, and notifies the requests that are admitted or refused.
    ///
    /// - Parameter clock: The clock of a host that has had no requests; without it, such a host does not change.
    private func change(
        _ name: String, by clock: (any DeadlineClock)? = nil,
        _ change: (inout Host, Deadline) -> [HostAdmission.Decided]
    ) {
        let outcomes = state.withLock { state -> [Outcome] in
            if let clock, state.hosts[name] == nil {
                state.makeRoom(at: clock.moment)
                state.hosts[name] = Host(name, Self.rule(for: name, in: state.rules) ?? HostLimits(), clock)
            }
            return state.hosts[name]?.change(change) { [weak self] in
                self?.change(name) { host, now in host.admission.decide(at: now) }
            } ?? []
        }
        for outcome in outcomes { outcome.waiter.continuation.resume(with: outcome.result) }
    }
}

/// The permission for one attempt, which holds its place until the end of its response's body.
private final class NetworkPermit: Sendable {
    private let limits: NetworkLimits
    private let name: String
    private let round: Int?
    private let bodyLimit: Int?
    private let decision = Once(), ending = Once()

    init(_ limits: NetworkLimits, _ name: String, round: Int?, bodyLimit: Int?) {
        (self.limits, self.name, self.round, self.bodyLimit) = (limits, name, round, bodyLimit)
    }

    deinit {
        decide(.undecided)
        end()
    }

    /// Reports the outcome to the breaker, unless it has been reported.
    func decide(_ outcome: CircuitBreaker.Outcome) {
        if decision.take(), let round { limits.decided(outcome, of: round, at: name) }
    }

    func end() { if ending.take() { limits.end(at: name) } }

    /// Returns the response with a body whose end, cancellation or release frees the place.
    func holding(_ response: HTTPStreamedResponse, of request: HTTPRequest) -> HTTPStreamedResponse {
        var response = response
        response.body = response.body.tapped { [bodyLimit] _, total in
            if let bodyLimit, total > bodyLimit { throw HTTPFailure.tooLarge(limit: bodyLimit).error(for: request) }
        } ended: { [self] _ in
            end()
        }
        return response
    }
}

extension HostAdmission.Refusal {
    fileprivate func error(
        for request: HTTPRequest, to host: String, _ admission: HostAdmission, at now: Deadline
    ) -> BackplaneError {
        let failure: BackplaneError.Failure, words: String
        switch self {
        case .queueFull:
            failure = BackplaneError.Failure(code: "limit.waiting")
            words =
                "\(admission.limits.waiting) requests wait for \(host), which is the limit `waiting`; "
                + "send fewer at a time, or raise it"
        case .breakerOpen(let until):
            let seconds = ((until - now) / .milliseconds(100)).rounded(.up) / 10
            failure = BackplaneError.Failure(code: "limit.breaker", details: ["next": "\(seconds)"])
            let after = "after \(admission.limits.breaker?.failures ?? 0) failures in a row"
            words =
                if case .halfOpen? = admission.breaker?.state {
                    "\(host) is being tried again \(after); other requests are refused until that has succeeded"
                } else {
                    "\(host) is not sent any requests \(after); the next attempt is allowed in \(seconds) seconds"
                }
        }
        return BackplaneError(
            .networkLimited, "\(words); nothing was sent", at: request.printableURL, failure: failure)
    }
}

extension LimitStatistics {
    init(_ host: String, _ admission: HostAdmission, at now: Deadline) {
        (self.host, running, waiting) = (host, admission.running, admission.waiting)
        (refused, breaker, nextProbe) = (admission.refused, nil, nil)
        switch admission.breaker?.state {
        case .closed: breaker = "closed"
        case .open(let until): (breaker, nextProbe) = ("open", max(.zero, until - now))
        case .halfOpen: breaker = "half-open"
        case nil: break
        }
    }
}
