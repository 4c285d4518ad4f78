extension String {
    /// The text with the command's options in place of the properties by which a program chooses the same.
    ///
    /// Errors of a host name these properties, because a program that contains a host has no such options.
    package var namingOptions: String {
        guard contains("Options.") else { return self }
        return options.reduce(self) { text, pair in text.replacing("`\(pair.property)`", with: pair.option) }
    }
}

/// The properties of a host's options that the command has an option for.
private let options: [(property: String, option: String)] = [
    ("HostOptions.dataFolder", "--data"), ("HostOptions.loadFolder", "--load-folder"),
    ("HostOptions.pluginPaths", "--plugin-path"), ("SwapOptions.allowsMissingMethods", "--allow-missing"),
    ("SwapOptions.abandonsGraphs", "--abandon-graphs"), ("SwapOptions.discardsState", "--discard-state"),
    ("SwapOptions.trustsLibraries", "--trust"),
]
