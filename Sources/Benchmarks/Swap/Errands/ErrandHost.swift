import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneTools
import Synchronization
import TurnstileContracts

/// A host of components with work in progress, whose single plugin is swapped repeatedly.
final class ErrandHost: Sendable {
    let host: PluginHost
    let lodge, errands, timekeeper: Remote<Turnstile>
    let server = ErrandServer()
    let clock = StepClock()
    /// The path of the file that lists how the exchanges outside calls ended.
    let record: String
    /// The folder with the data of the host's components.
    let data: String
    private let library: RebuiltLibrary
    /// The active edition.
    private let edition = Mutex(1)

    /// Creates a host and starts its managers.
    ///
    /// - Parameters:
    ///   - editions: The paths of the library's editions.
    ///   - folder: The folder for the library.
    ///   - loads: The folder for the copies that are loaded.
    init(_ editions: [String], in folder: String, loads: String) async throws {
        library = try RebuiltLibrary(of: editions, in: folder)
        (record, data) = (folder + "/record", folder + "/data")
        // An exchange that a swap ends is a warning, which is expected here.
        var options = HostOptions(
            loadFolder: loads, dataFolder: data, log: StandardErrorLog(level: .critical),
            executors: [server.executor])
        options.checksState = false  // a release does not, and a figure of a debug build means nothing anyway
        options.occupationLimit = nil  // calls occupy threads on purpose here
        options.clock = clock
        options.servicesLimit = .seconds(5)  // an exchange that a busy machine delays is not one that never ends
        let source = TokenSource(signIn: TokenRequest(ErrandServer.tokens, .json(["reader": "ann"])), token: "/token")
        host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library.path)],
                managers: [
                    "Lodge": ManagerDefinition(className: "LodgeManager"),
                    "Timekeeper": ManagerDefinition(className: "TimekeeperManager"),
                    "Errands": ManagerDefinition(
                        className: "ErrandManager",
                        communicationController: ComponentDefinition(
                            className: "ErrandCommunication", configuration: ["record": .string(record)])),
                ],
                network: NetworkSettings(
                    credentials: ["errands": Credential(hosts: ["errands.test"], .bearer(source))])),
            options: options)
        do {
            lodge = try await host.manager("Lodge")
            errands = try await host.manager("Errands")
            timekeeper = try await host.manager("Timekeeper")
        } catch {
            await host.stop()
            throw error
        }
    }

    /// Calls `body` while the host runs, and always stops the host.
    func whileRunning<Result>(_ body: (ErrandHost) async throws -> Result) async throws -> Result {
        let result: Result
        do { result = try await body(self) } catch {
            await host.stop()
            throw error
        }
        await host.stop()
        return result
    }

    /// Builds the other edition, untimed, and swaps to it.
    ///
    /// - Parameter waits: A function that is called when the swap waits for long calls.
    /// - Returns: The time from the request to the commit.
    func swap(_ options: ChangeOptions, waits: @escaping @Sendable () -> Void) async throws -> Duration {
        let other = edition.withLock { 3 - $0 }
        try library.build(other)
        let start = ContinuousClock.now
        let report = try await host.swap([library.path], applying: nil, options) { _ in waits() }
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
