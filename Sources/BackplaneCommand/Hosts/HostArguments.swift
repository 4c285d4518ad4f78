#if Engines
import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneReports

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
            "The folder to which libraries are copied before they are loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
            valueName: "folder"))
    var loadFolder: String?

    @Option(
        help: ArgumentHelp(
            "The folder in which data access controllers store their data (default: $XDG_STATE_HOME/backplane).",
            valueName: "folder"))
    var data: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "The lowest level to log on standard error (\(LogLevelWord.all); default: notice), or NAME=LEVEL for one component, plugin or `host`; can be repeated.",
            valueName: "level"), completion: .list(LogLevelWord.levels), transform: LogLevelWord.init)
    var logLevel: [LogLevelWord] = []

    @Option(
        help: ArgumentHelp(
            "The log format; each record is one line.", valueName: "format"))
    var logFormat = LogFormat.text

    /// The settings without a manifest.
    var settings: HostSettings {
        HostSettings(
            environment: environment, pluginPaths: pluginPaths, loadFolder: loadFolder, data: data,
            log: LogSettings(levels: LogLevels(.notice).taking(logLevel), format: logFormat))
    }
}

extension LogFormat: ExpressibleByArgument {}
#endif
