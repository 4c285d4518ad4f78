import BackplaneHost

/// The options that every command takes which makes a host.
struct HostSettings: Sendable {
    /// Its path, once it is chosen.
    var manifest = ""
    var pluginPaths: [String] = []
    var loadFolder: String?
    var data: String?
    var log: any LogSink = SilentLog()

    /// The same with a manifest: the one that is given, or the one of the current folder.
    func taking(_ manifest: String?) throws(ManifestChoice.Missing) -> HostSettings {
        var settings = self
        settings.manifest = try ManifestChoice.taken(manifest)
        return settings
    }

    /// With an HTTP client of its own.
    func makeOptions() -> HostOptions {
        HostOptions(
            pluginPaths: pluginPaths, loadFolder: loadFolder, dataFolder: data, log: log, digest: Engines.digest,
            executors: [Engines.makeHTTP()], openStore: Engines.openStore)
    }

    /// The host of this command, nothing of it loaded yet.
    func makeHost() -> PluginHost {
        PluginHost(manifest: ManifestDocument(contentsOf: manifest), options: makeOptions())
    }
}
