import Backplane
package import BackplaneHost

/// The application to run: its manifest, and the arguments for the hidden command that creates its host.
package struct DevSettings: Sendable {
    /// The path of the manifest.
    package var manifest: String
    /// The manifest's environment; `nil` means `$BACKPLANE_ENVIRONMENT`, and an empty string means none.
    package var environment: String?
    package var pluginPaths: [String]
    /// Additional options of the hidden command, in the form `--name=value`.
    package var options: [String]
    /// The options of all swaps; `nil` leaves them to the host.
    package var swaps: ChangeOptions?
    /// A Boolean value that indicates whether a debugger will attach to the application.
    package var isDebugged = false
    /// The function that reads the manifest.
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

    /// The options of the next swap; `nil` leaves them to the host.
    ///
    /// The next save waits for the swap. Unless the options or the manifest specify otherwise, the swap therefore waits
    /// for long calls no longer than 10 s.
    package var swapOptions: ChangeOptions? {
        guard swaps?.drain == nil, document.manifest.swap.drain == .standard else { return swaps }
        var options = swaps ?? ChangeOptions()
        options.drain = .upTo(DrainPolicy.standard.limit, then: .retry(attempts: 100, within: .seconds(10)))
        return options
    }

    /// The arguments of the hidden command.
    package var arguments: [String] {
        (environment.map { ["--environment=\($0)"] } ?? []) + (isDebugged ? ["--debug"] : []) + options
            + pluginPaths.map { "--plugin-path=\($0)" } + [
                "--", manifest,
            ]
    }
}
