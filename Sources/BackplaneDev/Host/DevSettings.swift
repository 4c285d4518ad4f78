import Backplane
package import BackplaneHost

/// The application that the loop runs: its manifest, and what the hidden command takes that makes a host of it.
package struct DevSettings: Sendable {
    /// Its path.
    package var manifest: String
    /// The environment of the manifest that was asked for; `nil`: `$BACKPLANE_ENVIRONMENT`; empty: none.
    package var environment: String?
    package var pluginPaths: [String]
    /// Further options of the hidden command, `--name=value` each.
    package var options: [String]
    /// Reads the manifest.
    package var read: @Sendable () -> ManifestDocument

    package init(manifest: String, environment: String?, pluginPaths: [String], options: [String], read: @escaping @Sendable () -> ManifestDocument) {
        (self.manifest, self.environment, self.pluginPaths) = (manifest, environment, pluginPaths)
        (self.options, self.read) = (options, read)
    }

    /// The manifest, read now.
    package var document: ManifestDocument { read() }

    /// The input of the hidden command.
    package var arguments: [String] {
        (environment.map { ["--environment=\($0)"] } ?? []) + options + pluginPaths.map { "--plugin-path=\($0)" } + ["--", manifest]
    }
}
