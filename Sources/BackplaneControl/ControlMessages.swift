package import BackplaneHost

/// The handshake, which identifies the host and is answered whatever the version of the client.
package struct HelloRequest: ControlMessage {
    package static let name = "hello"
    package typealias Answer = HostGreeting

    package init() {}
}

/// A request to activate new builds of plugins.
package struct SwapRequest: ControlMessage {
    package static let name = "swap"
    package typealias Answer = SwapReportForm
    package var libraries: [String]
    package var options: SwapOptionsForm?

    package init(libraries: [String], options: SwapOptions? = nil) {
        (self.libraries, self.options) = (libraries, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options" }
}

/// A request for the effects that a swap would have.
package struct PreviewRequest: ControlMessage {
    package static let name = "preview"
    package typealias Answer = SwapPreviewForm
    package var libraries: [String]
    package var options: SwapOptionsForm?

    package init(libraries: [String], options: SwapOptions? = nil) {
        (self.libraries, self.options) = (libraries, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options" }
}

/// A request to swap back to an older generation of a plugin.
package struct RollbackRequest: ControlMessage {
    package static let name = "rollback"
    package typealias Answer = SwapReportForm
    package var plugin: String
    /// The generation, or `nil` for the one committed last before the active one.
    package var generation: Int?
    package var options: SwapOptionsForm?

    package init(plugin: String, generation: Int? = nil, options: SwapOptions? = nil) {
        (self.plugin, self.generation, self.options) = (plugin, generation, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey {
        case plugin = "plugin", generation = "generation", options = "options"
    }
}

/// A request for the generations of one plugin or all.
package struct GenerationsRequest: ControlMessage {
    package static let name = "generations"
    package typealias Answer = [GenerationForm]
    /// The plugin, or `nil` for all.
    package var plugin: String?

    package init(plugin: String? = nil) { self.plugin = plugin }

    private enum CodingKeys: String, CodingKey { case plugin = "plugin" }
}

/// A request for the statistics of the components that are up.
package struct StatisticsRequest: ControlMessage {
    package static let name = "statistics"
    package typealias Answer = [ComponentStatisticsForm]

    package init() {}
}

/// A request to call a method by name.
///
/// Input and output are JSON within a string, so that they arrive byte for byte.
package struct CallRequest: ControlMessage {
    package static let name = "call"
    package struct Answer: Codable, Sendable {
        package var output: String

        private enum CodingKeys: String, CodingKey { case output = "output" }
    }
    package var manager: String
    package var method: String
    package var input: String?
    /// The time limit in seconds, or `nil` for one minute.
    package var timeout: Double?

    package init(manager: String, method: String, input: String?, timeout: Double?) {
        (self.manager, self.method, self.input, self.timeout) = (manager, method, input, timeout)
    }

    private enum CodingKeys: String, CodingKey {
        case manager = "manager", method = "method", input = "input", timeout = "timeout"
    }
}

/// A request to activate a manifest, which the host reads.
package struct ApplyRequest: ControlMessage {
    package static let name = "apply"
    package typealias Answer = ManifestChangeForm
    /// The absolute path of the manifest.
    package var manifest: String
    /// The environment, `nil` for the active manifest's, or an empty string for none.
    package var environment: String?
    /// Whether a manifest without managers is meant; `nil` if not, so that hosts of before understand the request.
    package var empty: Bool?
    /// Whether new libraries are loaded without a trial in a child process; `nil` means no.
    package var trustsLibraries: Bool?

    package init(
        manifest: String, environment: String? = nil, empty: Bool = false, trustsLibraries: Bool = false
    ) {
        (self.manifest, self.environment, self.empty) = (manifest, environment, empty ? true : nil)
        self.trustsLibraries = trustsLibraries ? true : nil
    }

    private enum CodingKeys: String, CodingKey { case manifest, environment, empty, trustsLibraries }
}

/// A request to recreate a manager, or everything that is up.
package struct ResetRequest: ControlMessage {
    package static let name = "reset"
    package typealias Answer = ManifestChangeForm
    package var manager: String?

    package init(manager: String? = nil) { self.manager = manager }

    private enum CodingKeys: String, CodingKey { case manager = "manager" }
}
