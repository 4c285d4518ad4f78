#if Engines
import ArgumentParser
import Backplane

/// The options of every command that creates a host.
struct HostArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The environment of the manifest to use (default: $BACKPLANE_ENVIRONMENT, or none).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("plugin-path"), parsing: .singleValue,
        help: ArgumentHelp("A folder to search for libraries; can be repeated.", valueName: "folder"))
    var pluginPaths: [String] = []

    @Option(
        help: ArgumentHelp(
            "The folder libraries are copied to before they are loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
            valueName: "folder"))
    var loadFolder: String?

    @Option(
        help: ArgumentHelp(
            "The folder where data access controllers keep their data (default: $XDG_STATE_HOME/backplane).",
            valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The lowest level to log on standard error (\(LogLevelName.all); default: notice).", valueName: "level"),
        completion: .list(LogLevelName.names), transform: LogLevelName.level)
    var logLevel: Log.Level = .notice

    /// The settings without a manifest.
    var settings: HostSettings {
        HostSettings(
            environment: environment, pluginPaths: pluginPaths, loadFolder: loadFolder, data: data,
            log: Engines.log(logLevel))
    }
}
#endif
