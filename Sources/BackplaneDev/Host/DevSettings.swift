import Backplane
package import BackplaneHost

/// The application to run: its manifest, and the arguments for the hidden command that creates its host.
package struct DevSettings: Sendable {
    /// The path of the manifest.
    package var manifest: String
    /// The manifest's environment: `nil` takes `$BACKPLANE_ENVIRONMENT`, an empty string none.
    package var environment: String?
    package var pluginPaths: [String]
    /// Further options of the hidden command, in the form `--name=value`.
    package var options: [String]
    /// Reads the manifest.
    package var read: @Sendable () -> ManifestDocument

    package init(
        manifest: String, environment: String?, pluginPaths: [String], options: [String],
        read: @escaping @Sendable () -> ManifestDocument
    ) {
        (self.manifest, self.environment, self.pluginPaths) = (manifest, environment, pluginPaths)
        (self.options, self.read) = (options, read)
    }

    /// The manifest, read on each access.
    package var document: ManifestDocument { read() }

    /// The arguments of the hidden command.
    package var arguments: [String] {
        (environment.map { ["--environment=\($0)"] } ?? []) + options + pluginPaths.map { "--plugin-path=\($0)" } + [
            "--", manifest,
        ]
    }
}
