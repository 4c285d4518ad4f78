import Backplane
import BackplaneHost
import BackplaneTools
import BenchmarkContracts

/// A started host, and the managers that rows call in it.
struct BenchmarkHost: Sendable {
    let host: PluginHost
    let benchmark: Remote<Benchmark>
    let earlier: Remote<EarlierBenchmark>
    let tally: Remote<Tally>
    let relay: Remote<Relay>
    /// The frame of the host's calls.
    let call: Call

    /// Starts the host.
    ///
    /// - Parameters:
    ///   - folder: The folder for copies of libraries and for data.
    ///   - counting: The way in which leases are counted, or `nil` for the best one on this system.
    init(in folder: String, counting: LeaseCounting? = nil) async throws {
        host = PluginHost(
            manifest: Manifest(
                plugins: Self.plugins,
                managers: [
                    "Benchmark": ManagerDefinition(className: "BenchmarkManager"),
                    "Tally": ManagerDefinition(className: "TallyManager"),
                    "Relay": ManagerDefinition(className: "RelayManager", uses: ["benchmark": "Benchmark"]),
                ]),
            options: Self.options(in: folder, counting))
        do {
            (benchmark, earlier) = (try await host.manager("Benchmark"), try await host.manager("Benchmark"))
            (tally, relay) = (try await host.manager("Tally"), try await host.manager("Relay"))
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// The plugin that is called, and the one that calls it; both are beside this program.
    static let plugins = [PluginReference(library: "Benchmark"), PluginReference(library: "BenchmarkRelay")]

    static func options(in folder: String, _ counting: LeaseCounting? = nil) -> HostOptions {
        var options = HostOptions(
            loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error))
        if let counting { options.counting = counting }
        options.occupationLimit = nil  // calls intentionally occupy the pool here
        return options
    }
}
