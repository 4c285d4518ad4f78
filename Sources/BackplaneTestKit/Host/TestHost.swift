public import Backplane
public import BackplaneHost

/// A host for one test, which controls its environment: HTTP, the store and the log.
///
/// ``run(_:plugins:fakes:pluginPaths:lanes:clock:openStore:_:)`` creates and stops it.
public final class TestHost: Sendable {
    /// The host itself.
    public let host: PluginHost
    /// The executor that answers `http:` and `https:` requests.
    public let http: TestHTTP
    /// The store in which data access controllers keep records.
    public let store: TestStore
    /// The log of the host and its components.
    public let log: TestLog
    /// The clock of limits, deadlines and timers, which stands still until the test advances it.
    public let clock: TestClock
    /// A private folder of the test, which is removed at the end.
    ///
    /// It also contains the host's own folders.
    public var folder: String { files.path }
    package let files: TestFolder

    /// Creates a host that is not stopped with the test.
    ///
    /// - Parameters:
    ///   - manifest: The manifest.
    ///   - linked: The linked plugins.
    ///   - log: The log.
    ///   - clock: The clock.
    ///   - files: The folder for the host's own folders.
    ///   - change: Changes the host's options.
    package init(
        _ manifest: ManifestDocument, linked: [LinkedPlugin], log: TestLog = TestLog(), clock: TestClock = TestClock(),
        files: TestFolder, _ change: (inout HostOptions) -> Void
    ) {
        let http = TestHTTP(), store = TestStore()
        (self.http, self.store, self.log, self.clock, self.files) = (http, store, log, clock, files)
        // No watchdog for Swift's thread pool: tests that run concurrently occupy it.
        var options = HostOptions(
            loadFolder: files.path + "/loads", dataFolder: files.path + "/data", log: log, executors: [http],
            openStore: { _, _, _ in store }, occupationLimit: nil)
        options.clock = clock
        change(&options)
        host = PluginHost(manifest: manifest, linked: linked, options: options)
    }

    convenience init(
        _ overlay: Overlay, plugins: [any Plugin.Type], pluginPaths: [String]?, lanes: LaneRule, clock: TestClock,
        openStore: HostOptions.StoreOpener?
    ) throws(BackplaneError) {
        var manifest = overlay.manifest
        if pluginPaths == nil { manifest.plugins = [] }
        let components = overlay.components
        let fakes = LinkedPlugin(id: "org.backplane.testkit.fakes", version: "1.0.0") { registrar in
            for component in components { component.fake.register(&registrar, component.role, component.className) }
        }
        self.init(
            ManifestDocument(manifest),
            linked: plugins.map { LinkedPlugin($0) } + (components.isEmpty ? [] : [fakes]), clock: clock,
            files: try TestFolder()
        ) { options in
            (options.pluginPaths, options.lanes) = (pluginPaths ?? [], lanes)
            if let openStore { options.openStore = openStore }
        }
    }

    /// Returns a manager by its name, starting it if necessary, as `PluginHost.manager(_:as:)` does.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self) async throws(BackplaneError) -> Remote<C> {
        try await host.manager(name, as: C.self)
    }

    /// Returns a manager by a name that implies its contract, starting it if necessary.
    public func manager<C: Contract>(_ name: ManagerName<C>) async throws(BackplaneError) -> Remote<C> {
        try await host.manager(name)
    }

    /// Starts a call that does not serve another call.
    ///
    /// - Parameters:
    ///   - duration: The time until the call's deadline; `nil` for a call without one.
    ///   - traceparent: The trace that the call continues, in the format of a `traceparent` header; `nil` starts a new
    ///     trace.
    public func begin(within duration: Duration? = nil, traceparent: String? = nil) -> Call {
        host.begin(within: duration, traceparent: traceparent)
    }
}
