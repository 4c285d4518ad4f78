import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneReports
import Foundation

/// The process that loads hundreds of libraries for one figure: what a process has loaded it keeps, and the next load would be slower.
enum LoadingChild {
    /// What a child measures.
    enum Measure: String, CaseIterable, Sendable {
        /// The start of a host, from loading to managers that are up.
        case start
        /// The end of that alone: everything is loaded.
        case wiring
        /// What is done for each library, step by step.
        case steps
        /// Loading the files as they are and finding a symbol, and nothing else.
        case bare
    }

    /// What was measured, in nanoseconds for each library.
    typealias Figures = [String: Double]

    /// Has a child measure a swarm.
    static func figures(_ measure: Measure, of swarm: Swarm) async throws -> Figures {
        try await MeasuringChild.figures(measure.rawValue, in: swarm.folder, loads: swarm.loads)
    }

    /// What the child does.
    static func measure(_ measure: Measure, _ swarm: Swarm, _ digest: (any ContentDigest)?) async throws -> Figures {
        switch measure {
        case .start: ["start": try await startTime(of: swarm, isLoaded: false, digest)]
        case .wiring: ["wiring": try await startTime(of: swarm, isLoaded: true, digest)]
        case .steps: try LoadingSteps.measure(swarm, digest)
        case .bare: ["bare": try bareTime(of: swarm)]
        }
    }

    private static func startTime(of swarm: Swarm, isLoaded: Bool, _ digest: (any ContentDigest)?) async throws -> Double {
        let document = swarm.document, count = Double(document.manifest.managers.count)
        let host = PluginHost(
            manifest: document,
            options: HostOptions(loadFolder: swarm.loads, dataFolder: swarm.folder + "/data", log: StandardErrorLog(level: .error), digest: digest))
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
        for plugin in plugins { _ = try DynamicLibrary(loading: swarm.folder + "/" + plugin.library).symbol(LibraryFile.entry) }
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(plugins.count)
    }
}
