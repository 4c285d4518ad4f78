public import FoundationEssentials

/// The shared state of retries: a budget for each host, and the clock and the randomness of delays.
///
/// A pipeline has its own state unless one is specified, as in a test that controls time:
///
/// ```swift
/// let clock = TestClock()
/// let network = HTTPPipeline([executor], retries: Retries(clock: clock, date: { clock.date }, random: { 1 }))
/// ```
public final class Retries: Sendable {
    package let elapsed: @Sendable () -> Duration
    package let sleep: @Sendable (Duration) async throws -> Void
    package let date: @Sendable () -> Date
    package let random: @Sendable () -> Double
    let budget = RetryBudget()

    /// Creates the state of retries, with full budgets.
    ///
    /// - Parameters:
    ///   - clock: The clock for delays and budgets.
    ///   - date: A function that returns the current time, with which a date in `Retry-After` is compared.
    ///   - random: A function that returns a number from 0 up to 1: the fraction of a delay's bound to wait.
    public init(
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        (self.date, self.random) = (date, random)
    }
}
