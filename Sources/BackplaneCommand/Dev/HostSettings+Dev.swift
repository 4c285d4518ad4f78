import BackplaneDev
import BackplaneHost
import BackplaneTerminal

extension HostSettings {
    /// The settings of the development loop, with the options for the hidden command that creates an identical host.
    var application: DevSettings {
        let options =
            [("--load-folder", loadFolder), ("--data", data)] + (log?.options ?? []).map { ($0.name, $0.value) }
        return DevSettings(
            manifest: manifest, environment: environment, pluginPaths: pluginPaths,
            options: options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] }, read: { document })
    }
}
