import Backplane
import BackplaneHost
import BackplaneSwapLoad
import BenchmarkContracts
import Foundation

/// Swaps of a component with many records, during calls by four callers, and in the same process swaps of one without
/// any; durations are in milliseconds.
enum StatefulSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let editions = try editions(for: order, in: folder)
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
        let options = SwapOptions(
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
                        .swapFailed, "the state took the lane \(lane ?? "of none"): \(report.components)")
                }
                // In practice, an edit and a build lie between two swaps; the pause also lets the callers resume.
                try await Task.sleep(for: .milliseconds(2))
                waits.append(report.longestWait / .milliseconds(1))
            }
            return waits
        }
        return Sample(waits)
    }

    /// Returns two builds of one library, which differ in an unused byte.
    private static func editions(for order: SwapMeasure.Order, in folder: String) throws -> [String] {
        let first = try AppliedSwaps.ManifestSequence.annex(for: order, in: folder), second = first + ".second"
        try FileManager.default.copyItem(atPath: first, toPath: second)
        let file = try FileHandle(forWritingTo: URL(filePath: second))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: [0])
        return [first, second]
    }
}
