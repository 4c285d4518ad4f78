package import Backplane
import BackplaneNetwork
public import FoundationEssentials
import Synchronization

/// The clock of exchanges, and what their retries share: a budget for each host, and the randomness of delays.
///
/// A pipeline has its own state unless one is specified, as in a test that controls time:
///
/// ```swift
/// let clock = TestClock()
/// let network = HTTPPipeline([executor], retries: Retries(clock: clock, date: { clock.date }, random: { 1 }))
/// ```
public final class Retries: Sendable {
    package let clock: any DeadlineClock
    private let start: Deadline
    package let date: @Sendable () -> Date
    package let random: @Sendable () -> Double
    let budget = RetryBudget()

    /// Creates the state of retries, with full budgets.
    ///
    /// - Parameters:
    ///   - clock: The clock for delays, budgets and the time limits of exchanges.
    ///   - date: A function that returns the current time, with which a date in `Retry-After` is compared.
    ///   - random: A function that returns a number from 0 up to 1: the fraction of a delay's bound to wait.
    public convenience init(
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        let known: (any DeadlineClock)? = clock is ContinuousClock ? Alarms.shared : clock as? any DeadlineClock
        self.init(by: known ?? Alarms(clock), date: date, random: random)
    }

    package init(
        by clock: any DeadlineClock, date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        (self.clock, start, self.date, self.random) = (clock, clock.moment, date, random)
    }

    /// The time since the state was created.
    package var elapsed: Duration { clock.moment - start }
}

/// The stage that attempts an exchange again, according to the policy in its options and the budget of its host.
struct RetryStage: PipelineStage {
    let next: any HTTPExecutor
    let policy: RetryPolicy
    let retries: Retries
    let observed: ObservedExchange?
    /// A function that completes the response of the last attempt, such as one that writes its body to a file.
    ///
    /// Its errors are those of the attempt, which may be followed by another one.
    let complete: (@Sendable (HTTPStreamedResponse) async throws -> HTTPStreamedResponse)?

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        let start = retries.clock.moment
        var number = options.attempt
        /// A Boolean value that indicates whether an attempt has reached the body; if so, later attempts have the same
        /// time limit for their heads as the first.
        var hadBody = false
        if number > 1 {
            try await beginRejected(request, options, number)
        } else {
            retries.budget.requested(request.hostName, at: retries.elapsed)
        }
        while true {
            let delay: Duration, failure: BackplaneError.Code?
            do {
                var response = try await limited(request, options, hadBody)
                options.attempted?(HTTPAttempt(number: number, status: response.status))
                if let asked = delayAfter(response, request, number), isWorthIt(asked, options, start, hadBody),
                    take(request)
                {
                    await response.discard()
                    (delay, failure) = (asked, nil)
                } else {
                    response.timings.attempts += number - 1
                    guard let complete else { return response }
                    hadBody = true
                    return try await complete(response)
                }
            } catch let error as BackplaneError {
                options.attempted?(HTTPAttempt(number: number, error: error.code))
                let backoff = policy.backoff(after: number, random: retries.random())
                guard policy.mayHelp(after: error), policy.allows(request, after: number),
                    isWorthIt(backoff, options, start, hadBody), take(request)
                else { throw error }
                (delay, failure) = (backoff, error.code)
            }
            observed?.retries(after: delay, failure)
            try await retries.clock.pause(for: delay)
            number += 1
        }
    }

    /// Waits before an attempt requested by the sender because it rejected the last response.
    ///
    /// - Throws: `network.not-retried` if the policy or the budget does not allow it.
    private func beginRejected(_ request: HTTPRequest, _ options: HTTPOptions, _ number: Int) async throws {
        let delay = policy.backoff(after: number - 1, random: retries.random()), start = retries.clock.moment
        guard policy.allows(request, after: number - 1), isWorthIt(delay, options, start, false), take(request) else {
            throw BackplaneError(
                .networkNotRetried, "the policy or the budget for retries does not allow attempt \(number)",
                at: request.printableURL)
        }
        try await retries.clock.pause(for: delay)
    }

    private func delayAfter(_ response: HTTPStreamedResponse, _ request: HTTPRequest, _ number: Int) -> Duration? {
        guard policy.allows(request, after: number) else { return nil }
        return policy.delay(
            after: response.status, response.headers, attempt: number, now: retries.date(), random: retries.random())
    }

    private func take(_ request: HTTPRequest) -> Bool {
        retries.budget.take(request.hostName, at: retries.elapsed)
    }

    /// Returns whether there is time for an attempt after a delay.
    private func isWorthIt(
        _ delay: Duration, _ options: HTTPOptions, _ start: Deadline, _ hadBody: Bool
    ) -> Bool {
        let times = [options.totalTimeout, hadBody ? nil : options.headTimeout]
        let limits = times.compactMap(\.self).map { $0 - (retries.clock.moment - start) }
        return (limits + [options.call.flatMap(retries.clock.timeLeft)].compactMap(\.self)).allSatisfy { delay < $0 }
    }

    /// Makes an attempt, and fails if its response has no head once the attempt's time has passed.
    private func limited(
        _ request: HTTPRequest, _ options: HTTPOptions, _ hadBody: Bool
    ) async throws -> HTTPStreamedResponse {
        let limits = [policy.attemptTimeout, hadBody ? options.headTimeout : nil]
        guard let limit = limits.compactMap(\.self).min() else { return try await next.open(request, options) }
        return try await Race.run(
            by: retries.clock, { [next] in try await next.open(request, options) }, within: limit,
            otherwise: HTTPFailure.late("did not answer", limit: limit).error(for: request))
    }
}

/// The number of retries that remain for each host, so that retries do not aggravate an outage.
///
/// A host begins with ten. A retry uses one; each request adds a tenth, and so does each second. In the long run, no
/// more than a tenth of the requests are repeated, plus six a minute.
final class RetryBudget: Sendable {
    private struct Account {
        var balance: Double
        /// The time of the last change.
        var time: Duration

        /// Returns the balance, replenished for the time that has passed since.
        func balance(at now: Duration) -> Double {
            min(RetryBudget.most, balance + 0.1 * max(0, (now - time) / .seconds(1)))
        }
    }
    static let most = 10.0
    /// The maximum number of hosts with an account of their own; all others share one.
    private static let mostHosts = 1_000
    /// The name of the shared account, which is not that of a host.
    private static let others = "*"
    private let accounts = Mutex<[String: Account]>([:])

    /// Records a first attempt.
    func requested(_ host: String, at time: Duration) { change(host, at: time, by: 0.1) }

    /// Takes a retry from a host's budget; returns `false` if none is left.
    func take(_ host: String, at time: Duration) -> Bool { change(host, at: time, by: -1) }

    @discardableResult
    private func change(_ host: String, at time: Duration, by amount: Double) -> Bool {
        accounts.withLock { accounts in
            if amount < 0, accounts[host] == nil, accounts.count >= Self.mostHosts {
                // A whole budget needs no account.
                accounts = accounts.filter { $0.value.balance(at: time) < Self.most }
            }
            let name = accounts[host] == nil && accounts.count >= Self.mostHosts ? Self.others : host
            let balance = min(Self.most, (accounts[name]?.balance(at: time) ?? Self.most) + amount)
            guard balance >= 0 else { return false }
            accounts[name] = balance == Self.most ? nil : Account(balance: balance, time: time)
            return true
        }
    }
}
