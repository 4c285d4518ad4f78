import Backplane
import BackplaneHost
import BackplaneTools
import BenchmarkContracts

/// Swaps of a component with many records, during calls by four callers, and swaps of a component without records in
/// the same process; durations are in milliseconds.
enum StatefulSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let editions = try order.twins(of: "Annex", in: folder)
        func measured(_ records: Int, _ name: String) async throws -> Sample {
            let depot = ManagerDefinition(
                className: "DepotManager", configuration: ["records": .integer(Int64(records))])
            let host = try await TurnstileHost(
                order.plugin, editions, in: "\(folder)/\(name)", loads: "\(loads)/\(name)", manager: depot)
            return try await host.whileRunning { try await waits(order, $0) }
        }
        let empty = try await measured(0, "empty"), full = try await measured(order.records, "full")
        return [
            "wait": full.median, "longest": full.highest, "empty wait": empty.median, "empty longest": empty.highest,
            "beyond": full.median - empty.median,
        ]
    }

    /// Returns the longest wait at the gate in each swap.
    private static func waits(_ order: SwapMeasure.Order, _ swapped: TurnstileHost) async throws -> Sample {
        // JSON of a million records takes seconds, and minutes in a debug build.
        let options = ChangeOptions(
            stepLimit: .seconds(600), trustsLibraries: true, encodesState: order.encodesState)
        let watch = SwapWatch()
        let (waits, _) = try await TurnstileCallers.with(LoadedSwaps.callers, at: swapped, watch, windows: 0) {
            var waits: [Double] = []
            for _ in 0..<order.count {
                watch.begin()
                let report = try await swapped.swapForGood(options).report
                watch.end()
                let lane = report.components.first?.state?.lane
                guard lane == (order.encodesState ? "encoded" : "native") else {
                    throw BackplaneError(
                        .swapFailed, "the state crossed by the wrong lane, \(lane ?? "none"): \(report.components)")
                }
                // In practice, an edit and a build lie between two swaps; the pause also lets the callers resume.
                try await Task.sleep(for: .milliseconds(2))
                waits.append(report.longestWait / .milliseconds(1))
            }
            return waits
        }
        return Sample(waits)
    }
}
