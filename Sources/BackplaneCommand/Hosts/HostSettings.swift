import Backplane
import BackplaneHost

/// The options that every command takes which makes a host.
struct HostSettings: Sendable {
    /// Its path, once it is chosen.
    var manifest = ""
    /// Of the manifest's environments the one to use; `nil`: `$BACKPLANE_ENVIRONMENT`; empty: none.
    var environment: String?
    var pluginPaths: [String] = []
    var loadFolder: String?
    var data: String?
    var log: any LogSink = SilentLog()
    /// What the log leaves nothing out from.
    var logLevel: Log.Level? { Log.Level.allCases.first(where: log.isEnabled) }

    /// The same with a manifest: the one that is given, or the one of the current folder.
    func taking(_ manifest: String?) throws(ManifestChoice.Missing) -> HostSettings {
        var settings = self
        settings.manifest = try ManifestChoice.taken(manifest)
        return settings
    }

    /// With an HTTP client of its own.
    func makeOptions() -> HostOptions {
        var options = HostOptions(
            pluginPaths: pluginPaths, loadFolder: loadFolder, dataFolder: data, log: log, digest: Engines.digest,
            executors: [Engines.makeHTTP()], openStore: Engines.openStore)
        options.namesCrashes = true
        return options
    }

    /// The host of this command, nothing of it loaded yet.
    ///
    /// - Parameter document: the manifest as it is to be read; `nil`: as it is.
    func makeHost(_ document: ManifestDocument? = nil) -> PluginHost {
        PluginHost(manifest: document ?? self.document, options: makeOptions())
    }

    /// The manifest, read now.
    var document: ManifestDocument {
        ManifestDocument(contentsOf: manifest, environment: chosenEnvironment)
    }

    var chosenEnvironment: String? {
        let name = environment ?? ProcessEnvironment.value("BACKPLANE_ENVIRONMENT")
        return name == "" ? nil : name
    }
}
