import Backplane
import BackplaneHost
import BackplaneReports
import Foundation

/// The child process that loads hundreds of libraries for one figure.
///
/// Libraries are never unloaded, and would slow down the next measurement in the same process.
enum LoadingChild {
    /// The measurements of a child.
    enum Measure: String, CaseIterable, Sendable {
        /// The start of a host, from loading to running managers.
        case start
        /// The second part of the start, with all libraries loaded.
        case wiring
        /// The single steps for each library.
        case steps
        /// Loading the files and finding a symbol, without any checks.
        case bare
    }

    /// The figures of a measurement, in nanoseconds for each library.
    typealias Figures = [String: Double]

    /// Measures a swarm in a child process.
    static func figures(_ measure: Measure, of swarm: Swarm) async throws -> Figures {
        try await MeasuringChild.figures(measure.rawValue, in: swarm.folder, loads: swarm.loads)
    }

    /// Runs the measurement in the child.
    static func measure(_ measure: Measure, _ swarm: Swarm) async throws -> Figures {
        switch measure {
        case .start: ["start": try await startTime(of: swarm, isLoaded: false)]
        case .wiring: ["wiring": try await startTime(of: swarm, isLoaded: true)]
        case .steps: try LoadingSteps.measure(swarm)
        case .bare: ["bare": try bareTime(of: swarm)]
        }
    }

    private static func startTime(of swarm: Swarm, isLoaded: Bool) async throws -> Double {
        let document = swarm.document, count = Double(document.manifest.managers.count)
        let host = PluginHost(
            manifest: document,
            options: HostOptions(
                loadFolder: swarm.loads, dataFolder: swarm.folder + "/data", log: StandardErrorLog(level: .error)))
        if isLoaded { _ = await host.check() }
        let start = ContinuousClock.now
        do {
            try await host.start()
        } catch {
            await host.stop()
            throw error
        }
        let time = ContinuousClock.now - start
        await host.stop()
        return time / .nanoseconds(1) / count
    }

    private static func bareTime(of swarm: Swarm) throws -> Double {
        let plugins = swarm.document.manifest.plugins ?? []
        let start = ContinuousClock.now
        for plugin in plugins {
            _ = try DynamicLibrary(loading: swarm.folder + "/" + plugin.library).symbol(LibraryFile.entry)
        }
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(plugins.count)
    }
}
