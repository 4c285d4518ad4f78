import Backplane
import BackplaneTestKit
import ChallengeModule
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import BackplaneHost

/// Where a host's plugins come from, files that it loads or modules linked into this program, and how their calls
/// cross.
enum Origin: CaseIterable, Sendable {
    /// Files, and Swift values that cross natively.
    case libraries
    /// Files, and every call as JSON.
    case encoded
    case linked

    var isLoaded: Bool { self != .linked }
    var lanes: LaneRule { self == .encoded ? .encoded : .fastest }
}

/// A host in folders of its own, which are gone with the test, and what its components wrote to the log.
///
/// Its limits pass only when the test advances the clock.
final class TestHost: Sendable {
    let host: PluginHost
    let clock: TestClock
    let log: RecordedLog
    let folder: LoadingFixture.Folder
    var loads: String { folder.path + "/loads" }
    var data: String { folder.path + "/data" }

    /// Where SwiftPM puts the libraries: beside this program.
    static let libraries = RunningExecutable.folder ?? "."

    /// Nobody watches the pool: tests themselves occupy it, and would read of that in their logs.
    ///
    /// - Parameter manifest: the text of a whole manifest.
    convenience init(
        _ manifest: String, plugins: [any Plugin.Type] = [], pluginPaths: [String] = [],
        in folder: LoadingFixture.Folder? = nil,
        log: RecordedLog = RecordedLog(), lanes: LaneRule = .fastest, startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(60)
    ) throws {
        try self.init(
            manifest, linked: plugins.map { LinkedPlugin($0) }, pluginPaths: pluginPaths, in: folder, log: log,
            lanes: lanes, startLimit: startLimit,
            stopLimit: stopLimit)
    }

    init(
        _ manifest: String, linked: [LinkedPlugin], pluginPaths: [String] = [], in folder: LoadingFixture.Folder? = nil,
        log: RecordedLog = RecordedLog(), lanes: LaneRule = .fastest, startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(60),
        clock: TestClock = TestClock(),
        _ change: (inout HostOptions) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? LoadingFixture.Folder()
        (self.folder, self.log, self.clock) = (folder, log, clock)
        let path = try folder.write(Array(manifest.utf8), as: "manifest")
        var options = HostOptions(
            pluginPaths: pluginPaths, loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data", log: log,
            lanes: lanes, startLimit: startLimit, stopLimit: stopLimit, occupationLimit: nil)
        options.clock = clock
        change(&options)
        host = PluginHost(manifest: ManifestDocument(contentsOf: path), linked: linked, options: options)
    }

    /// A host of these managers, given as JSON, with the plugins that only the tests have.
    convenience init(
        managers: String, from origin: Origin, startLimit: Duration = .seconds(60), log: RecordedLog = RecordedLog(),
        stopLimit: Duration = .seconds(60)
    ) throws {
        let libraries = origin.isLoaded ? #"{"library": "_Challenge"}"# : ""
        try self.init(
            #"{"manifestVersion": 1, "plugins": [\#(libraries)], "managers": {\#(managers)}}"#,
            plugins: origin == .linked ? [ChallengePlugin.self] : [], log: log,
            lanes: origin.lanes, startLimit: startLimit, stopLimit: stopLimit)
    }

    /// Calls by name, texts in and out.
    func call(_ manager: String, _ method: String, _ input: String = "null", within limit: Duration? = nil)
        async throws(BackplaneError) -> String
    {
        String(
            decoding: try await host.call(manager, method, Array(input.utf8), host.begin(within: limit)), as: UTF8.self)
    }

    /// Runs `body`, and lets limits of exactly these lengths pass, each once something waits for it.
    ///
    /// - Parameter isReached: Whether `body` has come to the limits, for those that earlier steps have, too.
    func expiring<Value: Sendable>(
        _ limits: Duration..., once isReached: () -> Bool = { true }, body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await body() }
        await eventually { isReached() }
        for limit in limits { try await clock.expire(limit) }
        return try await work.value
    }

    /// Runs `body`, in which something does not end: limits of exactly this length pass whenever there is one.
    func passing<Value: Sendable>(_ limit: Duration, body: () async throws -> Value) async rethrows -> Value {
        let time = Task { [clock] in while true { try await clock.expire(limit) } }
        defer { time.cancel() }
        return try await body()
    }

    /// The folders of hosts that are there now.
    func loadFolders() -> [String] {
        ((try? FileTree.names(in: loads)) ?? []).filter { $0.hasPrefix("host-") }
    }
}

/// Keeps every line, and then shows it to `watch`.
final class RecordedLog: LogSink {
    private let records = Mutex<[LogRecord]>([])
    private let watch: @Sendable (LogRecord) -> Void

    init(_ watch: @escaping @Sendable (LogRecord) -> Void = { _ in }) { self.watch = watch }

    func isEnabled(_ level: Log.Level) -> Bool { true }

    func write(_ record: LogRecord) {
        // Whoever acts on the line may cause others, which come after it.
        records.withLock { $0.append(record) }
        watch(record)
    }

    var all: [LogRecord] { records.withLock { $0 } }

    /// What components wrote, without the host's own lines.
    var lines: [String] { all.filter { $0.source != "host" }.map { "\($0.source) \($0.message)" } }
}

/// The error that `body` throws; an issue when it throws none.
func error(
    _ location: SourceLocation = #_sourceLocation, of body: () async throws -> some Sendable
) async -> BackplaneError? {
    await #expect(throws: BackplaneError.self, sourceLocation: location) { _ = try await body() }
}

/// Waits for what happens soon, by looking again and again.
func eventually(_ location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool) async rethrows {
    for look in 0..<30_000 {
        if try await condition() { return }
        // Somebody else's thread may have to come to a processor first, and what is looked at may be dear.
        if look > 20 { usleep(1_000) }
        await Task.yield()
    }
    Issue.record("it did not happen", sourceLocation: location)
}

extension Duration {
    /// A time until deadlines that pass only by the test's clock: plugins go by the system's, which is behind it.
    static let farAway = Duration.seconds(36_000)
}

/// Expects `body` to end at the deadline of its call, and the trial manager that waits behind it to be cancelled once.
///
/// - Parameter count: The number of calls with that deadline.
func expectCancellation(
    at trials: Remote<Trials>, _ test: TestHost, calls count: Int = 1, _ location: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (Call) async throws -> some Sendable
) async throws {
    let limit = Duration.farAway, call = Task { try await body(test.host.begin(within: limit)) }
    try await test.clock.expire(limit, waiters: count)
    #expect(await error(location) { try await call.value }?.code == .callDeadline, sourceLocation: location)
    try await eventually(location) { try trials.cancellations() == 1 }
}
