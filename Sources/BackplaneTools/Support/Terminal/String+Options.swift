extension String {
    /// The text with the corresponding options of the command in place of the properties of a host.
    ///
    /// Errors of a host name these properties, because a program that embeds a host has no such options.
    package var namingOptions: String {
        guard contains("Options.") else { return self }
        return options.reduce(self) { text, pair in text.replacing("`\(pair.property)`", with: pair.option) }
    }
}

/// The properties of a host's options with corresponding options of the command.
private let options: [(property: String, option: String)] = [
    ("HostOptions.dataFolder", "--data"), ("HostOptions.loadFolder", "--load-folder"),
    ("HostOptions.pluginPaths", "--plugin-path"), ("ChangeOptions.allowsMissingMethods", "--allow-missing"),
    ("ChangeOptions.discardsState", "--discard-state"),
    ("ChangeOptions.trustsLibraries", "--trust"),
]
