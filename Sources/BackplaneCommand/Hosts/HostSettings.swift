import BackplaneHost

/// The options common to all commands that create a host.
struct HostSettings: Sendable {
    /// The path of the manifest, once it is chosen.
    var manifest = ""
    /// The manifest's environment; `nil` means `$BACKPLANE_ENVIRONMENT`, and an empty string means none.
    var environment: String?
    var pluginPaths: [String] = []
    var loadFolder: String?
    var data: String?
    /// The libraries that are first tried in a child process.
    var trials = TrialRule.whileRunning
    /// The log; `nil` for none.
    var log: LogSettings?

    /// Returns the settings with the given manifest, or with the one in the current folder.
    func taking(_ manifest: String?) throws(ManifestChoice.Missing) -> HostSettings {
        var settings = self
        settings.manifest = try ManifestChoice.taken(manifest)
        return settings
    }

    /// Creates the host's options, with a new HTTP client.
    func makeOptions() -> HostOptions {
        var options = HostOptions(
            pluginPaths: pluginPaths, loadFolder: loadFolder, dataFolder: data, log: log?.sink ?? SilentLog(),
            executors: [Engines.makeHTTP()], openStore: Engines.openStore)
        if let log { options.logLevels = log.levels }
        options.namesCrashes = true
        options.trials = trials
        return options
    }

    /// Creates the host of this command; nothing is loaded until it is used.
    ///
    /// - Parameter document: The manifest, or `nil` to read it from its path.
    func makeHost(_ document: ManifestDocument? = nil) -> PluginHost {
        PluginHost(manifest: document ?? self.document, options: makeOptions())
    }

    /// The manifest, read from its path on each access.
    var document: ManifestDocument {
        ManifestDocument(contentsOf: manifest, environment: chosenEnvironment)
    }

    var chosenEnvironment: String? {
        let name = environment ?? ProcessEnvironment.value("BACKPLANE_ENVIRONMENT")
        return name == "" ? nil : name
    }
}
