package import BackplaneHost

/// Who answers; asked before anything else, and answered whatever version asks.
package struct HelloRequest: ControlMessage {
    package static let name = "hello"
    package typealias Answer = HostGreeting

    package init() {}
}

/// Puts new builds in force.
package struct SwapRequest: ControlMessage {
    package static let name = "swap"
    package typealias Answer = SwapReportForm
    package var libraries: [String]
    package var options: SwapOptionsForm?

    package init(libraries: [String], options: SwapOptions? = nil) { (self.libraries, self.options) = (libraries, options.map(SwapOptionsForm.init)) }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options" }
}

/// Says what a swap would do.
package struct PreviewRequest: ControlMessage {
    package static let name = "preview"
    package typealias Answer = SwapPreviewForm
    package var libraries: [String]
    package var options: SwapOptionsForm?

    package init(libraries: [String], options: SwapOptions? = nil) { (self.libraries, self.options) = (libraries, options.map(SwapOptionsForm.init)) }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options" }
}

/// Swaps back.
package struct RollbackRequest: ControlMessage {
    package static let name = "rollback"
    package typealias Answer = SwapReportForm
    package var plugin: String
    /// `nil`: the last one before.
    package var generation: Int?
    package var options: SwapOptionsForm?

    package init(plugin: String, generation: Int? = nil, options: SwapOptions? = nil) {
        (self.plugin, self.generation, self.options) = (plugin, generation, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey { case plugin = "plugin", generation = "generation", options = "options" }
}

package struct GenerationsRequest: ControlMessage {
    package static let name = "generations"
    package typealias Answer = [GenerationForm]
    /// `nil`: all.
    package var plugin: String?

    package init(plugin: String? = nil) { self.plugin = plugin }

    private enum CodingKeys: String, CodingKey { case plugin = "plugin" }
}

package struct StatisticsRequest: ControlMessage {
    package static let name = "statistics"
    package typealias Answer = [ComponentStatisticsForm]

    package init() {}
}

/// Calls a method by name. What goes in and comes out is JSON inside a text, so that it arrives byte for byte.
package struct CallRequest: ControlMessage {
    package static let name = "call"
    package struct Answer: Codable, Sendable {
        package var output: String

        private enum CodingKeys: String, CodingKey { case output = "output" }
    }
    package var manager: String
    package var method: String
    package var input: String?
    /// Seconds; `nil`: a minute.
    package var timeout: Double?

    package init(manager: String, method: String, input: String?, timeout: Double?) {
        (self.manager, self.method, self.input, self.timeout) = (manager, method, input, timeout)
    }

    private enum CodingKeys: String, CodingKey { case manager = "manager", method = "method", input = "input", timeout = "timeout" }
}

/// Puts a manifest in force, which the host reads.
package struct ApplyRequest: ControlMessage {
    package static let name = "apply"
    package typealias Answer = ManifestChangeForm
    /// An absolute path.
    package var manifest: String
    /// `nil`: the one in force; empty: none.
    package var environment: String?

    package init(manifest: String, environment: String? = nil) { (self.manifest, self.environment) = (manifest, environment) }

    private enum CodingKeys: String, CodingKey { case manifest = "manifest", environment = "environment" }
}

/// Makes a manager anew, or everything that is up.
package struct ResetRequest: ControlMessage {
    package static let name = "reset"
    package typealias Answer = ManifestChangeForm
    package var manager: String?

    package init(manager: String? = nil) { self.manager = manager }

    private enum CodingKeys: String, CodingKey { case manager = "manager" }
}
