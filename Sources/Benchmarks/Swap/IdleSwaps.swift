import Backplane
import BackplaneHost
import BackplaneTools
import Foundation

/// The measurement of swaps without calls; all figures are in milliseconds.
enum IdleSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        try await order.measure(in: folder, loads: loads) { try await figures(order, $0) }
            .merging(try loading(order.editions(in: folder), order.count, in: loads)) { $1 }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> [String: Double] {
        var figures = ["first": try await swapped.swapForGood().time / .milliseconds(1)]
        var times: [Double] = [], rests: [Double] = [], steps: [ChangeStep: [Double]] = [:]
        for _ in 0..<order.count {
            let (time, report) = try await swapped.swapForGood(), whole = time / .milliseconds(1)
            times.append(whole)
            rests.append(whole - report.steps.reduce(0) { $0 + $1.duration.milliseconds })
            for step in report.steps { steps[step.step, default: []].append(step.duration.milliseconds) }
        }
        (figures["median"], figures["p99"], figures["rest"]) = (
            Sample(times).median, Sample(times).p99, Sample(rests).median
        )
        for (step, times) in steps { figures[step.rawValue] = Sample(times).median }
        let (untried, tried) = try await trials(swapped, order.count)
        (figures["tried"], figures["trial"]) = (tried, tried - untried)
        return figures
    }

    /// Measures swaps without and with a trial of the library in a child process, alternately.
    ///
    /// - Returns: The medians.
    private static func trials(_ swapped: TurnstileHost, _ count: Int) async throws -> (untried: Double, tried: Double)
    {
        // The first trial starts the process for them, which a running host has ready.
        _ = try await swapped.swapForGood(ChangeOptions())
        var untried: [Double] = [], tried: [Double] = []
        for _ in 0..<count {
            untried.append(try await swapped.swapForGood().time / .milliseconds(1))
            tried.append(try await swapped.swapForGood(ChangeOptions()).time / .milliseconds(1))
        }
        return (Sample(untried).median, Sample(tried).median)
    }

    /// Measures the steps of loading as a host does it, with the same libraries in the same process.
    private static func loading(_ editions: [String], _ count: Int, in loads: String) throws -> [String: Double] {
        let nanoseconds = try LoadingSteps.measure((0..<count).map { (editions[$0 % editions.count], nil) }, in: loads)
        return nanoseconds.mapValues { Row.Unit.milliseconds.figure(nanoseconds: $0) }
    }
}
