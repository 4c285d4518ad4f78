import BackplaneDev
import BackplaneHost

extension HostSettings {
    /// The settings of the development loop, with the options for the hidden command that creates the same host.
    var application: DevSettings {
        let options = [("--load-folder", loadFolder), ("--data", data), ("--log-level", logLevel.map { "\($0)" })]
        return DevSettings(
            manifest: manifest, environment: environment, pluginPaths: pluginPaths,
            options: options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] }, read: { document })
    }
}
