package import Backplane
package import BackplaneHost
package import BackplaneTestKit
import Challenge

/// The origin of a host's plugins, loaded files or linked modules, and the lane of their calls.
package enum Origin: CaseIterable, Sendable {
    /// Files, with Swift values in the native lane.
    case libraries
    /// Files, with every call as JSON.
    case encoded
    case linked

    package var isLoaded: Bool { self != .linked }
    package var lanes: LaneRule { self == .encoded ? .encoded : .fastest }
}

extension TestHost {
    package var loads: String { folder + "/loads" }
    package var data: String { folder + "/data" }

    /// - Parameter manifest: The text of a whole manifest.
    package convenience init(
        _ manifest: String, plugins: [any Plugin.Type] = [], pluginPaths: [String] = [], in files: TestFolder? = nil,
        log: TestLog = TestLog(), lanes: LaneRule = .fastest, startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(60)
    ) throws {
        try self.init(
            manifest, linked: plugins.map { LinkedPlugin($0) }, pluginPaths: pluginPaths, in: files, log: log,
            lanes: lanes, startLimit: startLimit, stopLimit: stopLimit)
    }

    package convenience init(
        _ manifest: String, linked: [LinkedPlugin], pluginPaths: [String] = [], in files: TestFolder? = nil,
        log: TestLog = TestLog(), lanes: LaneRule = .fastest, startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(60), clock: TestClock = TestClock(),
        _ change: (inout HostOptions) -> Void = { _ in }
    ) throws {
        let files = try files ?? TestFolder()
        let path = try files.write(Array(manifest.utf8), as: "manifest")
        self.init(ManifestDocument(contentsOf: path), linked: linked, log: log, clock: clock, files: files) { options in
            (options.pluginPaths, options.lanes) = (pluginPaths, lanes)
            (options.startLimit, options.stopLimit) = (startLimit, stopLimit)
            change(&options)
        }
    }

    /// Creates a host for managers in JSON, with the plugins of the tests.
    package convenience init(
        managers: String, from origin: Origin, startLimit: Duration = .seconds(60), log: TestLog = TestLog(),
        stopLimit: Duration = .seconds(60)
    ) throws {
        let libraries = origin.isLoaded ? #"{"library": "_Challenge"}"# : ""
        try self.init(
            #"{"manifestVersion": 1, "plugins": [\#(libraries)], "managers": {\#(managers)}}"#,
            plugins: origin == .linked ? [ChallengePlugin.self] : [], log: log,
            lanes: origin.lanes, startLimit: startLimit, stopLimit: stopLimit)
    }

    /// Calls a method by name, with JSON text as input and output.
    package func call(_ manager: String, _ method: String, _ input: String = "null", within limit: Duration? = nil)
        async throws(BackplaneError) -> String
    {
        String(
            decoding: try await host.call(manager, method, Array(input.utf8), host.begin(within: limit)), as: UTF8.self)
    }

    /// Runs `body`, and lets limits of exactly these lengths pass, each once something waits for it.
    ///
    /// - Parameter reach: A function that waits until `body` has reached the limits, if earlier steps have equal ones.
    package func expiring<Value: Sendable>(
        _ limits: Duration..., once reach: () async throws -> Void = {},
        body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await body() }
        try await reach()
        for limit in limits { try await clock.expire(limit) }
        return try await work.value
    }

    /// Returns the existing load folders of hosts.
    package func loadFolders() -> [String] {
        ((try? FileTree.names(in: loads)) ?? []).filter { $0.hasPrefix("host-") }
    }
}

extension TestLog {
    /// The lines of components, without the host's own lines.
    package var lines: [String] { records.filter { $0.source != "host" }.map { "\($0.source) \($0.message)" } }
}
