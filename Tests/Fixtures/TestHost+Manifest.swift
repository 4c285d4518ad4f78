package import Backplane
package import BackplaneHost
package import BackplaneTestKit
import Challenge

/// Where a host's plugins come from, files that it loads or modules linked into this program, and how their calls
/// cross.
package enum Origin: CaseIterable, Sendable {
    /// Files, and Swift values that cross natively.
    case libraries
    /// Files, and every call as JSON.
    case encoded
    case linked

    package var isLoaded: Bool { self != .linked }
    package var lanes: LaneRule { self == .encoded ? .encoded : .fastest }
}

extension TestHost {
    package var loads: String { folder + "/loads" }
    package var data: String { folder + "/data" }

    /// - Parameter manifest: the text of a whole manifest.
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

    /// A host of these managers, given as JSON, with the plugins that only the tests have.
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

    /// Calls by name, texts in and out.
    package func call(_ manager: String, _ method: String, _ input: String = "null", within limit: Duration? = nil)
        async throws(BackplaneError) -> String
    {
        String(
            decoding: try await host.call(manager, method, Array(input.utf8), host.begin(within: limit)), as: UTF8.self)
    }

    /// Runs `body`, and lets limits of exactly these lengths pass, each once something waits for it.
    ///
    /// - Parameter reach: Waits until `body` has come to the limits, for those that earlier steps have, too.
    package func expiring<Value: Sendable>(
        _ limits: Duration..., once reach: () async throws -> Void = {},
        body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await body() }
        try await reach()
        for limit in limits { try await clock.expire(limit) }
        return try await work.value
    }

    /// The folders of hosts that are there now.
    package func loadFolders() -> [String] {
        ((try? FileTree.names(in: loads)) ?? []).filter { $0.hasPrefix("host-") }
    }
}

extension TestLog {
    /// What components wrote, without the host's own lines.
    package var lines: [String] { records.filter { $0.source != "host" }.map { "\($0.source) \($0.message)" } }
}
