package import Backplane
package import BackplaneHost
import BackplaneReports
import Synchronization
package import YardstickContracts

/// A host whose one manager is swapped for the other edition, again and again.
package final class TurnstileHost: Sendable {
    package let host: PluginHost
    package let turnstile: Remote<Turnstile>
    package let call: Call
    private let library: RebuiltLibrary
    /// The edition in force.
    private let edition = Mutex(1)

    /// - Parameters:
    ///   - editions: its libraries; `nil`: as they were built.
    ///   - folder: for its library.
    ///   - loads: for the copies that are loaded.
    ///   - fault: fails actions of swaps.
    package init(
        _ plugin: TurnstilePlugin, _ editions: [String]? = nil, in folder: String, loads: String, lanes: LaneRule = .fastest,
        fault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)? = nil
    ) async throws {
        library = try RebuiltLibrary(of: editions ?? plugin.editions(), in: folder)
        var options = HostOptions(loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .critical), lanes: lanes)
        options.swapFault = fault
        options.checksState = false             // a release does not, and a figure of a debug build means nothing anyway
        options.occupationLimit = nil           // calls occupy threads on purpose here
        host = PluginHost(manifest: plugin.manifest(of: library.path), options: options)
        do {
            turnstile = try await host.manager(TurnstilePlugin.manager)
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// Builds the other edition, which is not measured, and swaps.
    ///
    /// - Returns: the time from the call to the commit.
    package func swap(_ options: SwapOptions = SwapOptions()) async throws -> (time: Duration, report: SwapReport) {
        let other = edition.withLock { 3 - $0 }
        try library.build(other)
        let start = ContinuousClock.now
        let report = try await host.swap(library: library.path, options)
        let time = ContinuousClock.now - start
        if report.outcome == .swapped { edition.withLock { $0 = other } }
        return (time, report)
    }

    /// The same where it must come about.
    package func swapForGood() async throws -> (time: Duration, report: SwapReport) {
        let swap = try await swap()
        guard swap.report.outcome == .swapped else {
            throw BackplaneError(.swapFailed, "the other edition was to be put in force, found: \(swap.report.outcome.rawValue)", at: library.path)
        }
        return swap
    }
}
