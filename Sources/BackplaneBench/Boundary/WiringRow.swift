import Backplane
import BackplaneHost

/// Wires 1,000 wires of a contract with 50 different types: 40 managers with 25 wires each.
///
/// The whole start of the host is measured, so loading two libraries and starting 41 managers is in the figure too.
enum WiringRow {
    static func make(in folder: String) -> Row {
        Row(name: "wiring 1,000 wires of 50 types, host's start", unit: .milliseconds, target: .median(atMost: 100), limit: 1) { _ in
            let host = PluginHost(manifest: manifest, options: YardstickHost.options(in: folder))
            let start = ContinuousClock.now
            do {
                try await host.start()
            } catch {
                await host.stop()
                throw error
            }
            let time = ContinuousClock.now - start
            await host.stop()
            return Row.Unit.milliseconds.figure(nanoseconds: time / .nanoseconds(1))
        }
    }

    private static let manifest: Manifest = {
        let looms = Dictionary(uniqueKeysWithValues: (1...25).map { ("loom\($0)", "Loom") })
        var managers = ["Loom": ManagerDefinition(className: "LoomManager")]
        for number in 1...40 { managers["Weaver\(number)"] = ManagerDefinition(className: "WeaverManager", uses: looms) }
        return Manifest(plugins: YardstickHost.plugins, managers: managers)
    }()
}
