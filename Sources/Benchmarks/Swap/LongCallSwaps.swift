import Backplane
import BackplaneHost
import BackplaneTools
import Synchronization
import TurnstileContracts

/// The measurement of a swap during one long call and calls by four callers at full speed, in milliseconds.
///
/// The number of the order is the duration of that call in tenths of a second.
enum LongCallSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let host = try await TurnstileHost(
            order.plugin, order.twins(of: "BenchmarkErrands", in: folder), in: folder + "/host", loads: loads,
            lanes: order.lanes, manager: ManagerDefinition(className: "LodgeManager"))
        return try await host.whileRunning { try await figures(order, $0) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> [String: Double] {
        let hasEnded = Mutex(false)
        let long = Task {
            defer { hasEnded.withLock { $0 = true } }
            let ticket = try await swapped.turnstile.pass(-100 * order.count, swapped.call)
            return (ticket: ticket, end: ContinuousClock.now)
        }
        // No other call is in flight yet.
        while await !swapped.host.statistics.contains(where: { $0.inFlight > 0 }), !hasEnded.withLock(\.self) {
            try await Task.sleep(for: .milliseconds(1))
        }
        let watch = SwapWatch()
        let (swap, busy) = try await TurnstileCallers.with(LoadedSwaps.callers, at: swapped, watch, windows: 1) {
            watch.begin()
            let report = try await swapped.swapForGood().report
            let end = ContinuousClock.now
            watch.end()
            let call = try await long.value
            return (call: call.ticket, late: max(.zero, end - call.end), wait: report.longestWait)
        }
        let final = try await swapped.turnstile.pass(0, swapped.call)
        func sum(_ figure: (CallerAccount) -> Int) -> Double { Double(busy.accounts.reduce(0) { $0 + figure($1) }) }
        return [
            "answered": sum(\.answered), "failed": sum(\.failed), "twice": sum(\.twice),
            "wrong": sum(\.wrong) + (swap.call.handovers == 0 ? 0 : 1), "disorder": sum(\.disorder),
            "miscount": Double(busy.miscount(of: final, others: 2)), "wait": swap.wait / .milliseconds(1),
            "gap": Sample(busy.gaps).highest, "late": swap.late / .milliseconds(1),
        ]
    }
}
