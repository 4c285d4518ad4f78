import BackplaneHost
package import BackplaneNetwork
import BackplaneTerminal
import Foundation

/// A process that measures what a process can do once only, or what would spoil later figures, such as loading hundreds of libraries.
package enum MeasuringChild {
    /// The hidden command that the child runs.
    package static let command = "bench-child"

    /// Has a child measure something.
    ///
    /// - Parameters:
    ///   - folder: with what it needs.
    ///   - loads: where it copies libraries to.
    static func figures(_ measure: String, in folder: String, loads: String) async throws -> [String: Double] {
        try await ProgramRun.with([command, measure, folder, loads]) { run in
            let text = try run.text()
            try run.requireSuccess()
            return try JSONDecoder().decode([String: Double].self, from: text)
        }
    }

    /// What the child does.
    package static func run(_ measure: String, in folder: String, loads: String, digest: (any ContentDigest)?) async -> Int32 {
        if let loading = LoadingChild.Measure(rawValue: measure) {
            return await report { try await LoadingChild.measure(loading, Swarm(folder: folder, loads: loads), digest) }
        }
        if let swapping = SwapMeasure(rawValue: measure) {
            return await report { try await swapping.figures(in: folder, loads: loads) }
        }
        let all = LoadingChild.Measure.allCases.map(\.rawValue) + SwapMeasure.allCases.map(\.rawValue)
        return Output.refuse("there is no measure `\(measure)`; there is: \(all.joined(separator: ", "))")
    }

    private static func report(_ figures: @escaping @Sendable () async throws -> [String: Double]) async -> Int32 {
        let run: @Sendable () async -> Int32 = {
            do {
                Output.json(try await figures())
                return 0
            } catch {
                return Output.fail(error)
            }
        }
        if let status = MainThread.hold(during: run) { return status }
        return await run()
    }
}
