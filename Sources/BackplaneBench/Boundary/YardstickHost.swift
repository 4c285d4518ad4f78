import Backplane
import BackplaneHost
import BackplaneReports
import YardstickContracts

/// The host whose plugins are called, and everything that rows call in it, started.
struct YardstickHost: Sendable {
    let host: PluginHost
    let yardstick: Remote<Yardstick>
    let earlier: Remote<EarlierYardstick>
    let tally: Remote<Tally>
    let relay: Remote<Relay>
    /// The frame that the host's calls have.
    let call: Call

    /// - Parameters:
    ///   - folder: for the copies of its libraries.
    ///   - counting: how its leases are counted; `nil`: as well as this system can.
    init(in folder: String, counting: LeaseCounting? = nil) async throws {
        host = PluginHost(
            manifest: Manifest(
                plugins: Self.plugins,
                managers: [
                    "Yardstick": ManagerDefinition(className: "YardstickManager"),
                    "Tally": ManagerDefinition(className: "TallyManager"),
                    "Relay": ManagerDefinition(className: "RelayManager", uses: ["yardstick": "Yardstick"]),
                ]),
            options: Self.options(in: folder, counting))
        do {
            (yardstick, earlier) = (try await host.manager("Yardstick"), try await host.manager("Yardstick"))
            (tally, relay) = (try await host.manager("Tally"), try await host.manager("Relay"))
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// Who is called, and who calls from a plugin of its own. They lie beside this program.
    static let plugins = [PluginReference(library: "_Yardstick"), PluginReference(library: "_YardstickRelay")]

    static func options(in folder: String, _ counting: LeaseCounting? = nil) -> HostOptions {
        var options = HostOptions(loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error))
        if let counting { options.counting = counting }
        options.occupationLimit = nil       // calls occupy the pool on purpose here
        return options
    }
}
