import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import TurnstileContracts

/// The measurement of swaps during calls by four callers at full speed, and of the same time without swaps, in
/// milliseconds.
enum LoadedSwaps {
    static let callers = 4

    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        try await order.measure(in: folder, loads: loads) { try await figures(order, $0) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> [String: Double] {
        let watch = SwapWatch()
        let (swaps, busy) = try await TurnstileCallers.with(callers, at: swapped, watch, windows: order.count) {
            var swaps: [(time: Double, wait: Double, isInLane: Bool, window: Duration)] = []
            for number in 0..<order.count {
                let began = ContinuousClock.now
                watch.window = number
                watch.begin()
                let (time, report) = try await swapped.swapForGood()
                watch.end()
                // In practice, an edit and a build lie between two swaps; the pause also lets the callers resume.
                try await Task.sleep(for: .milliseconds(2))
                swaps.append(
                    (
                        time / .milliseconds(1), report.longestWait / .milliseconds(1),
                        report.components.first?.state?.lane == (order.isEncoded ? "encoded" : "native"),
                        ContinuousClock.now - began
                    ))
            }
            return swaps
        }
        let final = try await swapped.turnstile.pass(0, swapped.call)
        let quiet = SwapWatch(handovers: order.count)
        let (_, control) = try await TurnstileCallers.with(callers, at: swapped, quiet, windows: order.count) {
            for (number, swap) in swaps.enumerated() {
                quiet.window = number
                try await Task.sleep(for: swap.window)
            }
        }
        func sum(_ figure: (CallerAccount) -> Int) -> Double { Double(busy.accounts.reduce(0) { $0 + figure($1) }) }
        let times = Sample(swaps.map(\.time)), waits = Sample(swaps.map(\.wait)), gaps = Sample(busy.gaps),
            without = Sample(control.gaps)
        return [
            "answered": sum(\.answered), "failed": sum(\.failed), "twice": sum(\.twice), "wrong": sum(\.wrong),
            "disorder": sum(\.disorder), "misled": Double(swaps.count { !$0.isInLane }),
            "miscount": Double(busy.miscount(of: final)), "median": times.median, "p99": times.p99,
            "wait": waits.median, "wait p99": waits.p99,
            "gap": gaps.median, "gap worst": gaps.highest, "control gap": without.median,
            "control gap worst": without.highest,
        ]
    }
}
