import Backplane
import BackplaneHost
import BackplaneTools

extension DemoCommand {
    /// Swaps a library while callers call it at full speed, and reports the outcome of every call.
    func showSwaps(in folder: String) async throws {
        let callers = 4, swaps = 20
        let swapped = try await TurnstileHost(.swift, in: folder + "/swap", loads: folder + "/load")
        let shown = try await swapped.whileRunning { swapped in
            let watch = SwapWatch()
            let (reports, calls) = try await TurnstileCallers.with(callers, at: swapped, watch, windows: 1) {
                var reports: [SwapReport] = []
                for _ in 0..<swaps {
                    watch.begin()
                    reports.append(try await swapped.swapForGood().report)
                    watch.end()
                    try await Task.sleep(for: .milliseconds(20))
                }
                return reports
            }
            let final = try await calls.settle(at: swapped)
            return (callers: calls, reports: reports, final: final.count, miscount: final.miscount)
        }
        let accounts = shown.callers.accounts
        for (number, account) in accounts.enumerated() {
            say(
                "caller \(number + 1): \(account.answered) calls answered, \(account.failed) failed, \(account.twice) made twice, \(account.wrong) by the wrong code"
            )
        }
        let held = shown.reports.reduce(0) { $0 + $1.callsHeld },
            longest = shown.reports.map(\.longestWait).max() ?? .zero
        say(
            "\(swaps) swaps between two builds; the count continued across the builds up to \(shown.final), and "
                + "\(shown.miscount) calls are missing"
        )
        say(
            "\(held) calls arrived while the state was carried over and waited, the longest \(Self.text(longest.milliseconds)) ms; a swap took \(Self.text(Self.median(shown.reports.map(\.duration.milliseconds)))) ms"
        )
    }

    private static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted(), middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func text(_ milliseconds: Double) -> String { "\((milliseconds * 100).rounded() / 100)" }
}
