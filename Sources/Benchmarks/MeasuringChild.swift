import BackplaneHost
import BackplaneTools
import Foundation

/// A child process for measurements that can be made only once per process or would distort later ones.
///
/// An example is loading hundreds of libraries.
package enum MeasuringChild {
    /// The hidden command that the child runs.
    package static let command = "bench-child"

    /// Runs a measurement in a child process and returns its figures.
    ///
    /// - Parameters:
    ///   - folder: The folder with the child's input.
    ///   - loads: The folder to which libraries are copied.
    static func figures(_ measure: String, in folder: String, loads: String) async throws -> [String: Double] {
        try await ProgramRun.with([command, measure, folder, loads]) { run in
            let text = try run.text()
            try run.requireSuccess()
            return try JSONDecoder().decode([String: Double].self, from: text)
        }
    }

    /// Runs the child.
    package static func run(_ measure: String, in folder: String, loads: String) async -> Int32 {
        if let loading = LoadingChild.Measure(rawValue: measure) {
            return await report { try await LoadingChild.measure(loading, Swarm(folder: folder, loads: loads)) }
        }
        if let swapping = SwapMeasure(rawValue: measure) {
            return await report { try await swapping.figures(in: folder, loads: loads) }
        }
        if measure == HTTPRig.serverMeasure { return await serving { try await HTTPRig.serve() } }
        if measure == RouteRig.serverMeasure {
            return await serving { try await RouteRig.serve(in: folder, loads: loads) }
        }
        if measure == SwappedRoutes.serverMeasure {
            return await serving { try await SwappedRoutes.serve(in: folder, loads: loads) }
        }
        if measure == ScreenRig.serverMeasure { return await serving { try await ScreenRig.serve(in: folder) } }
        if measure == StoreChild.measure { return await StoreChild.run(in: folder) }
        if measure == TransferChild.measure { return await TransferChild.run(in: folder) }
        let all = LoadingChild.Measure.allCases.map(\.rawValue) + SwapMeasure.allCases.map(\.rawValue)
        return Output.refuse("unknown measure `\(measure)`; expected one of: \(all.joined(separator: ", "))")
    }

    private static func serving(_ serve: () async throws -> Void) async -> Int32 {
        do {
            try await serve()
            return 0
        } catch {
            return Output.fail(error)
        }
    }

    private static func report(_ figures: @escaping @Sendable () async throws -> [String: Double]) async -> Int32 {
        do {
            Output.json(try await figures())
            return 0
        } catch {
            return Output.fail(error)
        }
    }
}
