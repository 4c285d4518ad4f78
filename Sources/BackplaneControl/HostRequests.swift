package import Backplane
package import BackplaneExchange
package import BackplaneHost

// The requests about the host itself. Their answers are the reports of `BackplaneHost`, whose JSON the commands print.
// The requests and their keys are listed in docs/reference/control.md, which refers to these files for the answers.

/// The handshake, which identifies the host and is answered regardless of the client's version.
package struct HelloRequest: ControlMessage {
    package static let name = "hello"
    package typealias Answer = HostGreeting

    package init() {}
}

/// The answer to the handshake, which identifies a host.
package struct HostGreeting: Codable, Sendable, Hashable {
    package var `protocol`: Int
    package var version: String
    package var process: Int32
    /// The absolute path of the active manifest, or `nil` if it was created in Swift.
    package var manifest: String?
    package var environment: String?
    /// The time at which the host started to listen, in seconds since 1970.
    package var startedAt: Double
    package var requests: [String]
}

/// The manifest that a request activates, which the host reads.
package struct RequestedManifest: Codable, Sendable, Hashable {
    package var path: String
    /// The environment, `nil` for the active manifest's, or an empty string for none.
    package var environment: String?
    package var mayBeEmpty: Bool

    package init(_ path: String, environment: String? = nil, mayBeEmpty: Bool = false) {
        (self.path, self.environment, self.mayBeEmpty) = (path, environment, mayBeEmpty)
    }

    /// Reads the manifest.
    ///
    /// - Parameter host: The host, whose environment is the default.
    /// - Throws: `control.malformed` for a relative path, `manifest.unreadable`, or `manifest.empty`.
    fileprivate func document(for host: PluginHost) throws(BackplaneError) -> ManifestDocument {
        guard path.hasPrefix("/") else {
            throw BackplaneError(.controlMalformed, "expected an absolute path, found `\(path)`", at: "/manifest/path")
        }
        let environment = environment ?? host.manifestSource.environment
        // Only a regular file, because reading a pipe could block this request forever.
        let document = ManifestDocument(
            parsing: try ManifestFile.read(path, onlyRegular: true), path: path,
            environment: environment == "" ? nil : environment)
        let hasErrors = document.problems.contains { $0.severity == .error }
        guard mayBeEmpty || hasErrors || !document.manifest.managers.isEmpty else {
            throw BackplaneError(
                .manifestEmpty,
                "the manifest has no managers, so every manager of the host would stop; to allow that, use `backplane apply --empty`, or `\"mayBeEmpty\": true` in the request",
                at: path)
        }
        return document
    }
}

// MARK: Changes

/// A request to activate new builds of plugins, optionally together with a manifest.
package struct SwapRequest: ControlMessage {
    package static let name = "swap"
    package typealias Answer = ChangeReport
    package var libraries: [String]
    package var manifest: RequestedManifest?
    package var options: ChangeOptions?

    package init(libraries: [String], manifest: RequestedManifest? = nil, options: ChangeOptions? = nil) {
        (self.libraries, self.manifest, self.options) = (libraries, manifest, options)
    }

    static let handler = ControlRequest(Self.self, endsTrouble: true) { host, request, work throws(BackplaneError) in
        let manifest = try request.manifest?.document(for: host)
        return try await work.reportingProgress { report throws(BackplaneError) in
            try await host.swap(
                request.libraries, applying: manifest, request.options ?? ChangeOptions(), progress: report)
        }
    }
}

/// A request for the plan of a change.
package struct PreviewRequest: ControlMessage {
    package static let name = "preview"
    package typealias Answer = ChangeReport
    package var libraries: [String]
    package var manifest: RequestedManifest?
    package var options: ChangeOptions?

    package init(libraries: [String], manifest: RequestedManifest? = nil, options: ChangeOptions? = nil) {
        (self.libraries, self.manifest, self.options) = (libraries, manifest, options)
    }

    /// A handler that ends with its client, because it has no effect other than its answer.
    static let handler = ControlRequest(Self.self, endsWithClient: true) { host, request throws(BackplaneError) in
        let manifest = try request.manifest?.document(for: host)
        return try await host.preview(request.libraries, applying: manifest, request.options ?? ChangeOptions())
    }
}

/// A request to swap back to an older generation of a plugin.
package struct RollbackRequest: ControlMessage {
    package static let name = "rollback"
    package typealias Answer = ChangeReport
    package var plugin: String
    /// The generation, or `nil` for the generation that was committed before the active one.
    package var generation: Int?
    package var options: ChangeOptions?

    package init(plugin: String, generation: Int? = nil, options: ChangeOptions? = nil) {
        (self.plugin, self.generation, self.options) = (plugin, generation, options)
    }

    static let handler = ControlRequest(Self.self, endsTrouble: true) { host, request, work throws(BackplaneError) in
        try await work.reportingProgress { report throws(BackplaneError) in
            try await host.rollback(
                plugin: request.plugin, to: request.generation, request.options ?? ChangeOptions(), progress: report)
        }
    }
}

extension ControlWork {
    /// Runs a swap and reports its progress on this thread, so that the coordinator never waits for a slow client.
    fileprivate func reportingProgress(
        _ swap: (_ report: @escaping ChangeProgressReport) async throws(BackplaneError) -> ChangeReport
    ) async throws(BackplaneError) -> ChangeReport {
        let (news, report) = AsyncStream.makeStream(of: ChangeProgress.self)
        async let told: Void = {
            for await progress in news {
                switch progress {
                case .waiting(let calls): self.report(ControlEvent("waiting for long calls: \(calls)"))
                case .onProbation(let plugins):
                    for plugin in plugins {
                        self.report(
                            ControlEvent(
                                "generation \(plugin.toGeneration) of \(plugin.plugin) is active, on probation"))
                    }
                }
            }
        }()
        let outcome: Result<ChangeReport, BackplaneError>
        do throws(BackplaneError) { outcome = .success(try await swap { report.yield($0) }) } catch {
            outcome = .failure(error)
        }
        report.finish()
        await told
        return try outcome.get()
    }
}

/// A request to activate a manifest, which the host reads.
package struct ApplyRequest: ControlMessage {
    package static let name = "apply"
    package typealias Answer = ChangeReport
    package var manifest: RequestedManifest
    package var options: ChangeOptions?

    package init(_ manifest: RequestedManifest, options: ChangeOptions? = nil) {
        (self.manifest, self.options) = (manifest, options)
    }

    static let handler = ControlRequest(Self.self) { host, request, work throws(BackplaneError) in
        let manifest = try request.manifest.document(for: host)
        return try await work.reportingProgress { report throws(BackplaneError) in
            try await host.apply(manifest, request.options ?? ChangeOptions(), progress: report)
        }
    }
}

/// A request to recreate a manager, or all running managers.
package struct ResetRequest: ControlMessage {
    package static let name = "reset"
    package typealias Answer = ChangeReport
    package var manager: String?

    package init(manager: String? = nil) { self.manager = manager }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        if let manager = request.manager { return try await host.reset(manager) }
        return try await host.reset()
    }
}

// MARK: Reports

/// A request for the generations of one plugin or all.
package struct GenerationsRequest: ControlMessage {
    package static let name = "generations"
    package typealias Answer = [Generation]
    package var plugin: String?

    package init(plugin: String? = nil) { self.plugin = plugin }

    static let handler = ControlRequest(Self.self, endsTrouble: true) { host, request, _ throws(BackplaneError) in
        try await host.generations(of: request.plugin)
    }
}

/// A request for the statistics of the active components, and of the limits for other hosts.
package struct StatisticsRequest: ControlMessage {
    package static let name = "statistics"

    package struct Answer: Codable, Sendable, Hashable {
        package var components: [ComponentStatistics]
        package var limits: [LimitStatistics]
    }

    package init() {}

    static let handler = ControlRequest(Self.self, endsTrouble: true) { host, _, _ throws(BackplaneError) in
        Answer(components: await host.statistics, limits: host.limits)
    }
}

/// A request for the levels of a host's log, which may change some of them first.
package struct LogLevelsRequest: ControlMessage {
    package static let name = "logLevels"

    package struct Answer: Codable, Sendable, Hashable {
        package var levels: LogLevels
        package var remarks: [String]
    }

    package var standard: Log.Level?
    package var exceptions: [String: Log.Level?]?
    package var reset: Bool

    package init(standard: Log.Level? = nil, exceptions: [String: Log.Level?] = [:], reset: Bool = false) {
        (self.standard, self.exceptions, self.reset) = (standard, exceptions.isEmpty ? nil : exceptions, reset)
    }

    static let handler = ControlRequest(Self.self, endsTrouble: true) { host, request, _ throws(BackplaneError) in
        host.changeLogLevels { levels in
            if request.reset { levels = host.firstLogLevels }
            if let standard = request.standard { levels.standard = standard }
            for (name, level) in request.exceptions ?? [:] { levels.exceptions[name] = level }
        }
        return Answer(levels: host.logLevels, remarks: await host.remarksOnLogLevels())
    }
}

/// The last line of an answer that consists of elements.
package struct ElementCount: Codable, Sendable {
    package var elements: Int
}

/// A request for the events of the host, each of which is a line of the answer, until it stops.
package struct EventsRequest: ControlMessage {
    package static let name = "events"
    package typealias Answer = ElementCount
    package var limit: Int?

    package init(limit: Int? = nil) { self.limit = limit }

    static let handler = ControlRequest(Self.self, isLasting: true) { host, request, work throws(BackplaneError) in
        let events = host.events
        // From now on, the client misses no event.
        work.report(ControlEvent("listening"))
        for await event in events {
            try work.send(event)
            if work.sent == request.limit { break }
        }
        return ElementCount(elements: work.sent)
    }
}

// MARK: Calls

/// A request to call a method by name.
///
/// Input and output are JSON in strings, so that they arrive byte for byte.
package struct CallRequest: ControlMessage {
    package static let name = "call"

    package struct Answer: Codable, Sendable {
        package var output: String
    }

    package var manager: String
    package var method: String
    package var input: String?
    /// The time limit, or `nil` for one minute.
    package var timeout: Duration?
    package var traceparent: String?
    package var stages: Bool

    package init(
        manager: String, method: String, input: String?, timeout: Duration?, traceparent: String? = nil,
        stages: Bool = false
    ) {
        (self.manager, self.method, self.input, self.timeout) = (manager, method, input, timeout)
        (self.traceparent, self.stages) = (traceparent, stages)
    }

    /// A handler that ends with its client, because calls that never return would otherwise occupy all connections.
    static let handler = ControlRequest(Self.self, endsWithClient: true) {
        host, request, work throws(BackplaneError) in
        let limit = request.timeout ?? .seconds(60)
        // The host ends the call at its deadline, unless the plugin blocks the thread that is to be notified.
        work.expectEnd(within: limit + .seconds(1))
        let call = host.begin(within: limit, traceparent: request.traceparent)
        let exchanges = request.stages ? host.exchanges(of: call.trace) : nil
        defer { exchanges?.report(to: work) }
        let output = try await host.call(
            request.manager, request.method, Array((request.input ?? "null").utf8), call)
        return Answer(output: String(decoding: output, as: UTF8.self))
    }
}

/// A request for the elements of a stream, each of which is a line of the answer.
package struct StreamRequest: ControlMessage {
    package static let name = "stream"
    package typealias Answer = ElementCount
    package var manager: String
    package var method: String
    package var input: String?
    /// The time limit for opening the stream, or `nil` for one minute.
    package var timeout: Duration?
    package var traceparent: String?
    package var stages: Bool
    package var limit: Int?

    package init(_ call: CallRequest, limit: Int?) {
        (manager, method, input, timeout) = (call.manager, call.method, call.input, call.timeout)
        (traceparent, stages, self.limit) = (call.traceparent, call.stages, limit)
    }

    static let handler = ControlRequest(Self.self, isLasting: true) { host, request, work throws(BackplaneError) in
        if let limit = request.limit, limit < 1 {
            throw BackplaneError(.controlMalformed, "expected a number of at least 1, found \(limit)", at: "/limit")
        }
        let call = host.begin(within: request.timeout ?? .seconds(60), traceparent: request.traceparent)
        let exchanges = request.stages ? host.exchanges(of: call.trace) : nil
        defer { exchanges?.report(to: work) }
        let stream = try await host.stream(
            request.manager, request.method, Array((request.input ?? "null").utf8), call)
        for try await element in stream {
            exchanges?.report(to: work)
            try work.send(element: element)
            if work.sent == request.limit { break }
        }
        return ElementCount(elements: work.sent)
    }
}

extension TracedExchanges {
    /// Reports the stages since the last time, each as an event.
    fileprivate func report(to work: ControlWork) {
        for line in takeLines() {
            guard work.report(ControlEvent(line)) else { return }
        }
    }
}
