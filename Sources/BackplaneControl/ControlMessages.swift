package import BackplaneHost

/// The handshake, which identifies the host and is answered regardless of the client's version.
package struct HelloRequest: ControlMessage {
    package static let name = "hello"
    package typealias Answer = HostGreeting

    package init() {}
}

/// A request to activate new builds of plugins, optionally together with a manifest.
package struct SwapRequest: ControlMessage {
    package static let name = "swap"
    package typealias Answer = SwapReportForm
    package var libraries: [String]
    package var options: SwapOptionsForm?
    /// The manifest to activate; `nil` for the active one, so that older hosts understand the request.
    package var apply: AppliedManifestForm?

    package init(libraries: [String], apply: AppliedManifestForm? = nil, options: SwapOptions? = nil) {
        (self.libraries, self.apply, self.options) = (libraries, apply, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options", apply = "apply" }
}

/// A request for the effects that a swap would have.
package struct PreviewRequest: ControlMessage {
    package static let name = "preview"
    package typealias Answer = SwapPreviewForm
    package var libraries: [String]
    package var options: SwapOptionsForm?
    /// The manifest that the swap would activate, or `nil` for the active one.
    package var apply: AppliedManifestForm?

    package init(libraries: [String], apply: AppliedManifestForm? = nil, options: SwapOptions? = nil) {
        (self.libraries, self.apply, self.options) = (libraries, apply, options.map(SwapOptionsForm.init))
    }

    private enum CodingKeys: String, CodingKey { case libraries = "libraries", options = "options", apply = "apply" }
}

/// A request to swap back to an older generation of a plugin.
package struct RollbackRequest: ControlMessage {
    package static let name = "rollback"
    package typealias Answer = SwapReportForm
    package var plugin: String
    /// The generation, or `nil` for the one that was committed before the active one.
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

/// A request for the statistics of the active components.
package struct StatisticsRequest: ControlMessage {
    package static let name = "statistics"
    package typealias Answer = [ComponentStatisticsForm]

    package init() {}
}

/// A request to call a method by name.
///
/// Input and output are JSON in strings, so that they arrive byte for byte.
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
    /// The trace that the call continues, or `nil` to begin one.
    package var traceparent: String?
    /// A Boolean value that indicates whether the stages of the call's HTTP exchanges are reported as events.
    package var stages: Bool?

    package init(
        manager: String, method: String, input: String?, timeout: Double?, traceparent: String? = nil,
        stages: Bool? = nil
    ) {
        (self.manager, self.method, self.input, self.timeout) = (manager, method, input, timeout)
        (self.traceparent, self.stages) = (traceparent, stages)
    }

    private enum CodingKeys: String, CodingKey {
        case manager = "manager", method = "method", input = "input", timeout = "timeout", traceparent = "traceparent"
        case stages = "stages"
    }
}

/// A request for the elements of a stream, each of which is a line of the answer.
package struct StreamRequest: ControlMessage {
    package static let name = "stream"
    package struct Answer: Codable, Sendable {
        /// The number of elements that were sent.
        package var elements: Int

        private enum CodingKeys: String, CodingKey { case elements = "elements" }
    }
    package var manager: String
    package var method: String
    package var input: String?
    /// The time limit for opening the stream, in seconds, or `nil` for one minute.
    package var timeout: Double?
    package var traceparent: String?
    /// A Boolean value that indicates whether the stages of the stream's HTTP exchanges are reported as events.
    package var stages: Bool?
    /// The number of elements after which the stream is closed, or `nil` for all.
    package var limit: Int?

    package init(_ call: CallRequest, limit: Int?) {
        (manager, method, input, timeout) = (call.manager, call.method, call.input, call.timeout)
        (traceparent, stages, self.limit) = (call.traceparent, call.stages, limit)
    }

    private enum CodingKeys: String, CodingKey {
        case manager = "manager", method = "method", input = "input", timeout = "timeout", traceparent = "traceparent"
        case stages = "stages", limit = "limit"
    }
}

/// A request for the events of the host, each of which is a line of the answer, until it stops.
package struct EventsRequest: ControlMessage {
    package static let name = "events"
    package typealias Answer = StreamRequest.Answer
    /// The number of events after which the answer ends, or `nil` for no limit.
    package var limit: Int?

    package init(limit: Int? = nil) { self.limit = limit }

    private enum CodingKeys: String, CodingKey { case limit = "limit" }
}

/// A request to activate a manifest, which the host reads.
package struct ApplyRequest: ControlMessage {
    package static let name = "apply"
    package typealias Answer = ManifestChangeForm
    /// The absolute path of the manifest.
    package var manifest: String
    /// The environment, `nil` for the active manifest's, or an empty string for none.
    package var environment: String?
    /// A Boolean value that indicates whether a manifest without managers is accepted; if not, `nil` for older hosts.
    package var empty: Bool?
    /// A Boolean value that indicates whether new libraries are loaded without a trial in a child process; `nil` means
    /// no.
    package var trustsLibraries: Bool?
    /// A Boolean value that indicates whether callers that stay may lose methods that they use; `nil` means no.
    package var allowsMissingMethods: Bool?
    /// A Boolean value that indicates whether state that cannot be carried over is discarded; `nil` means no.
    package var discardsState: Bool?
    /// A Boolean value that indicates whether state crosses as JSON even if it could cross as a Swift value; `nil`
    /// means no.
    package var encodesState: Bool?

    package init(
        manifest: String, environment: String? = nil, empty: Bool = false, trustsLibraries: Bool = false,
        allowsMissingMethods: Bool = false, discardsState: Bool = false, encodesState: Bool = false
    ) {
        (self.manifest, self.environment, self.empty) = (manifest, environment, empty ? true : nil)
        self.trustsLibraries = trustsLibraries ? true : nil
        self.allowsMissingMethods = allowsMissingMethods ? true : nil
        self.discardsState = discardsState ? true : nil
        self.encodesState = encodesState ? true : nil
    }

    private enum CodingKeys: String, CodingKey {
        case manifest = "manifest"
        case environment = "environment"
        case empty = "empty"
        case trustsLibraries = "trustsLibraries"
        case allowsMissingMethods = "allowsMissingMethods"
        case discardsState = "discardsState"
        case encodesState = "encodesState"
    }
}

/// A request to recreate a manager, or all running managers.
package struct ResetRequest: ControlMessage {
    package static let name = "reset"
    package typealias Answer = ManifestChangeForm
    package var manager: String?

    package init(manager: String? = nil) { self.manager = manager }

    private enum CodingKeys: String, CodingKey { case manager = "manager" }
}
