package import Backplane
import BackplaneNetwork
public import FoundationEssentials
import Synchronization

/// The clock of exchanges and the shared state of their retries: a budget for each host, and the randomness of delays.
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

    package var elapsed: Duration { clock.moment - start }
}

/// The number of retries that remain for each host, so that retries do not aggravate an outage.
///
/// A host begins with ten. A retry uses one; each request adds a tenth, and so does each second. In the long run, no
/// more than a tenth of the requests are repeated, plus six a minute.
final class RetryBudget: Sendable {
    private struct Account {
        var balance: Double
        var time: Duration

        /// Returns the balance, replenished for the time since the last change.
        func balance(at now: Duration) -> Double {
            min(RetryBudget.most, balance + 0.1 * max(0, (now - time) / .seconds(1)))
        }
    }
    static let most = 10.0
    /// The maximum number of hosts with an account of their own; all others share one.
    private static let mostHosts = 1_000
    /// The name of the shared account, which no host has.
    private static let others = "*"
    private let accounts = Mutex<[String: Account]>([:])

    func requested(_ host: String, at time: Duration) { change(host, at: time, by: 0.1) }

    /// Takes a retry from a host's budget; returns `false` if none is left.
    func take(_ host: String, at time: Duration) -> Bool { change(host, at: time, by: -1) }

    @discardableResult
    private func change(_ host: String, at time: Duration, by amount: Double) -> Bool {
        accounts.withLock { accounts in
            if amount < 0, accounts[host] == nil, accounts.count >= Self.mostHosts {
                // A full budget needs no account.
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
