import Backplane
import BackplaneHost
import BackplaneSwapLoad
import TurnstileContracts

/// The measurement of a swap during one long call and calls by four callers at full speed, in milliseconds.
///
/// The number of the order is the duration of that call in tenths of a second.
enum LongCallSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let host = try await TurnstileHost(
            order.plugin, order.twins(of: "_BenchmarkErrands", in: folder), in: folder + "/host", loads: loads,
            lanes: order.lanes, manager: ManagerDefinition(className: "LodgeManager"))
        return try await host.whileRunning { try await figures(order, $0) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> [String: Double] {
        let watch = SwapWatch()
        let (swap, busy) = try await TurnstileCallers.with(LoadedSwaps.callers, at: swapped, watch, windows: 1) {
            let (begun, begins) = AsyncStream<Void>.makeStream()
            let long = Task {
                begins.finish()
                let ticket = try await swapped.turnstile.pass(-100 * order.count, swapped.call)
                return (ticket: ticket, end: ContinuousClock.now)
            }
            // The call has begun long before the swap reaches the gate.
            for await _ in begun {}
            try await Task.sleep(for: .milliseconds(500))
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
