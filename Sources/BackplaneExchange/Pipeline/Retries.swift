package import Backplane
import BackplaneNetwork
public import FoundationEssentials

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
