import Backplane
import BackplaneHost
import BackplaneTools
import BenchmarkContracts
import Synchronization

/// A host whose provider of series is repeatedly swapped for its other edition, and whose reader is another plugin.
final class SeriesHost: Sendable {
    let host: PluginHost
    let series: Remote<Series>
    let reader: Remote<SeriesReading>
    let call: Call
    private let library: RebuiltLibrary
    /// The active edition.
    private let edition = Mutex(1)

    /// Returns the paths of the built editions.
    static func editions() throws(BackplaneError) -> [String] {
        [try BuiltLibrary.path(of: "BenchmarkSeriesFirst"), try BuiltLibrary.path(of: "BenchmarkSeriesSecond")]
    }

    /// Creates a host and starts its managers.
    ///
    /// - Parameters:
    ///   - editions: The paths of the library's editions.
    ///   - folder: The folder for the library.
    ///   - loads: The folder for the copies that are loaded.
    init(_ editions: [String], in folder: String, loads: String, lanes: LaneRule) async throws {
        library = try RebuiltLibrary(of: editions, in: folder)
        var options = HostOptions(
            loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .error), lanes: lanes)
        options.checksState = false  // a release build does not, and figures of a debug build are meaningless
        options.occupationLimit = nil  // streams and calls intentionally occupy the pool here
        host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library.path), PluginReference(library: "BenchmarkRelay")],
                managers: [
                    "Series": ManagerDefinition(className: "SeriesManager"),
                    "Reader": ManagerDefinition(className: "SeriesReaderManager", uses: ["series": "Series"]),
                ]), options: options)
        do {
            (series, reader) = (try await host.manager("Series"), try await host.manager("Reader"))
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// Builds the other edition, untimed, and swaps to it.
    ///
    /// - Returns: The time from the request to the commit.
    func swap() async throws -> Duration {
        let other = edition.withLock { 3 - $0 }
        try library.build(other)
        let start = ContinuousClock.now
        let report = try await host.swap(library: library.path, ChangeOptions(trustsLibraries: true))
        let time = ContinuousClock.now - start
        guard report.outcome == .changed else {
            throw BackplaneError(
                .swapFailed, "expected the other edition to become active, found: \(report.outcome.rawValue)",
                at: library.path)
        }
        edition.withLock { $0 = other }
        return time
    }
}
