import Backplane
import BackplaneHost
import BackplaneTools
import Glibc
import TurnstileContracts

/// The lasting effects of many swaps in one process.
enum ManySwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        try await order.measure(in: folder, loads: loads) { try await figures(order, $0) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> [String: Double] {
        // The first tenth is a warm-up: after it, everything that is allocated once has been.
        let tenth = max(1, order.count / 10)
        let before = try await callCost(swapped)
        var times: [Double] = [], memory = 0.0
        for number in 1...order.count {
            times.append(try await swapped.swapForGood().time / .milliseconds(1))
            if number == tenth { memory = try privateDirty() }
        }
        let growth = try privateDirty() - memory
        let after = try await callCost(swapped)
        return [
            "memory": growth / 1_024 / Double(max(1, order.count - tenth)), "before": before, "after": after,
            "early": Sample(Array(times.prefix(tenth))).median, "late": Sample(Array(times.suffix(tenth))).median,
        ]
    }

    /// Returns the process's private memory, without pages of copies that have not been written to disk yet.
    private static func privateDirty() throws -> Double {
        sync()
        return try ProcessMemory.privateDirty()
    }

    /// Returns the cost of a call in nanoseconds, the median of many short measurements.
    private static func callCost(_ swapped: TurnstileHost) async throws -> Double {
        var costs: [Double] = []
        for _ in 0..<101 {
            let start = ContinuousClock.now
            try await pass(2_000, swapped.turnstile, swapped.call)
            costs.append((ContinuousClock.now - start) / .nanoseconds(1) / 2_000)
        }
        return Sample(costs).median
    }

    @inline(never)
    private static func pass(_ count: Int, _ turnstile: Remote<Turnstile>, _ call: Call) async throws(BackplaneError) {
        for _ in 0..<count { _ = try await turnstile.pass(1, call) }
    }
}
