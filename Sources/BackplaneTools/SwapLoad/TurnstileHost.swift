package import Backplane
package import BackplaneHost
import Synchronization
package import TurnstileContracts

/// A host whose only manager is swapped repeatedly for its other edition.
package final class TurnstileHost: Sendable {
    package let host: PluginHost
    package let turnstile: Remote<Turnstile>
    package let call: Call
    private let library: RebuiltLibrary
    /// The active edition.
    private let edition = Mutex(1)

    /// Creates a host and starts its manager.
    ///
    /// - Parameters:
    ///   - editions: The paths of the library's editions, or `nil` for those that were built.
    ///   - folder: The folder for the library.
    ///   - loads: The folder for the copies that are loaded.
    ///   - manager: The definition of the manager.
    ///   - fault: A function that makes actions of swaps fail.
    package init(
        _ plugin: TurnstilePlugin, _ editions: [String]? = nil, in folder: String, loads: String,
        lanes: LaneRule = .fastest, manager: ManagerDefinition = ManagerDefinition(className: "TurnstileManager"),
        fault: (@Sendable (ChangeAction) throws(BackplaneError) -> Void)? = nil
    ) async throws {
        library = try RebuiltLibrary(of: editions ?? plugin.editions(), in: folder)
        var options = HostOptions(
            loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .critical), lanes: lanes)
        options.swapFault = fault
        options.checksState = false  // a release build does not, and figures of a debug build are meaningless
        options.occupationLimit = nil  // calls intentionally occupy threads here
        host = PluginHost(manifest: plugin.manifest(of: library.path, manager: manager), options: options)
        do {
            turnstile = try await host.manager(TurnstilePlugin.manager)
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// Calls `body` with the host running, and always stops the host afterwards.
    package func whileRunning<Result>(_ body: (TurnstileHost) async throws -> Result) async throws -> Result {
        let result: Result
        do { result = try await body(self) } catch {
            await host.stop()
            throw error
        }
        await host.stop()
        return result
    }

    /// Builds the other edition, without timing the build, and swaps to it; by default without a trial of its library.
    ///
    /// - Returns: The time from the request to the commit, and the report.
    package func swap(_ options: ChangeOptions = ChangeOptions(trustsLibraries: true)) async throws -> (
        time: Duration, report: ChangeReport
    ) {
        let other = edition.withLock { 3 - $0 }
        try library.build(other)
        let start = ContinuousClock.now
        let report = try await host.swap(library: library.path, options)
        let time = ContinuousClock.now - start
        if report.outcome == .changed { edition.withLock { $0 = other } }
        return (time, report)
    }

    /// The path of the library.
    package var libraryPath: String { library.path }

    /// Activates another manifest with the code that belongs to it; by default without a trial of its libraries.
    ///
    /// - Returns: The time from the request to the commit, and the report.
    @discardableResult
    package func apply(_ manifest: Manifest, _ options: ChangeOptions = ChangeOptions(trustsLibraries: true))
        async throws
        -> (time: Duration, report: ChangeReport)
    {
        let start = ContinuousClock.now
        let report = try await host.swap([], applying: ManifestDocument(manifest), options)
        return (ContinuousClock.now - start, report)
    }

    /// Swaps to the other edition; throws an error if that fails.
    package func swapForGood(_ options: ChangeOptions = ChangeOptions(trustsLibraries: true)) async throws
        -> (time: Duration, report: ChangeReport)
    {
        let swap = try await swap(options)
        guard swap.report.outcome == .changed else {
            throw BackplaneError(
                .swapFailed, "expected the other edition to become active, found: \(swap.report.outcome.rawValue)",
                at: library.path)
        }
        return swap
    }
}
