import Backplane
import Foundation
package import TurnstileContracts

/// Callers who pass a turnstile at full speed, each on a separate thread, and check every answer.
package struct TurnstileCallers: Sendable {
    package let accounts: [CallerAccount]

    /// Runs `body` while callers, numbered from 1, make calls; `body` starts once each has received an answer.
    ///
    /// - Parameter windows: The number of windows into which `body` divides the run.
    package static func with<Value: Sendable>(
        _ count: Int, at swapped: TurnstileHost, _ watch: SwapWatch, windows: Int, _ body: () async throws -> Value
    ) async throws -> (value: Value, callers: TurnstileCallers) {
        let (answered, answers) = AsyncStream<Void>.makeStream()
        let tasks = (1...count).map { number in
            Task {
                await CallerThread.run {
                    await call(number, swapped, watch, windows: windows) { answers.yield() }
                }
            }
        }
        for await _ in answered.prefix(count) {}
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        watch.stop()
        var accounts: [CallerAccount] = []
        for task in tasks { accounts.append(await task.value) }
        return (try result.get(), TurnstileCallers(accounts: accounts))
    }

    private static func call(
        _ number: Int, _ swapped: TurnstileHost, _ watch: SwapWatch, windows: Int,
        whenAnswered: @Sendable () -> Void
    ) async -> CallerAccount {
        var account = CallerAccount(windows: windows), last = ContinuousClock.now, isAnswered = false
        let turnstile = swapped.turnstile, call = swapped.call
        while !watch.isOver {
            let least = watch.least
            do {
                let ticket = try await turnstile.pass(number, call)
                account.note(ticket, least: least, most: watch.most)
            } catch {
                account.failed += 1
            }
            if !isAnswered {
                isAnswered = true
                whenAnswered()
            }
            let now = ContinuousClock.now
            account.note(gap: now - last, in: watch.window)
            last = now
        }
        return account
    }

    /// Returns the difference between the count in the state and the callers' own counts.
    ///
    /// - Parameter others: The number of calls made by others.
    package func miscount(of final: Ticket, others: Int = 1) -> Int {
        abs(final.count - others - accounts.reduce(0) { $0 + ($1.last?.own ?? 0) })
    }

    /// Makes a final call, and returns the count in the state and its difference from the callers' counts.
    package func settle(at swapped: TurnstileHost) async throws -> (count: Int, miscount: Int) {
        let final = try await swapped.turnstile.pass(0, swapped.call)
        return (final.count, miscount(of: final))
    }

    /// The longest gap that any caller saw in each window.
    package var gaps: [Double] {
        guard let first = accounts.first else { return [] }
        return first.gaps.indices.map { window in accounts.map { $0.gaps[window] }.max() ?? 0 }
    }
}
