import Backplane
import BackplaneHost

/// The row for connecting 1,000 wires of a contract with 50 different types: 40 managers with 25 wires each.
///
/// The figure is for the whole start of the host, including the loading of two libraries and the start of 41 managers.
enum WiringRow {
    static func make(in folder: String) -> Row {
        Row(
            name: "wiring 1,000 wires of 50 types, host's start", unit: .milliseconds, target: .median(atMost: 100),
            limit: 1
        ) { _ in
            let host = PluginHost(manifest: manifest, options: BenchmarkHost.options(in: folder))
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
        let wires = Dictionary(uniqueKeysWithValues: (1...25).map { ("wire\($0)", "ManyMethods") })
        var managers = ["ManyMethods": ManagerDefinition(className: "ManyMethodsManager")]
        for number in 1...40 {
            managers["ManyWires\(number)"] = ManagerDefinition(className: "ManyWiresManager", uses: wires)
        }
        return Manifest(plugins: BenchmarkHost.plugins, managers: managers)
    }()
}
