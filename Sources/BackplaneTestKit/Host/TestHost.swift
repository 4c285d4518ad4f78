public import Backplane
public import BackplaneHost

/// A host for one test, with everything around it in the test's hand: HTTP, the store, the log.
///
/// It is made, and stopped, by ``run(_:plugins:fakes:pluginPaths:lanes:_:)``.
public final class TestHost: Sendable {
    public let host: PluginHost
    /// Answers `http:` and `https:` requests.
    public let http = TestHTTP()
    /// What data access controllers keep records in.
    public let store = TestStore()
    public let log = TestLog()
    /// A private folder of the test's, removed with everything in it at the end. The host's own folders are in it.
    public let folder: String

    init(_ overlay: Overlay, plugins: [any Plugin.Type], pluginPaths: [String]?, lanes: LaneRule, in folder: String) {
        self.folder = folder
        var manifest = overlay.manifest
        if pluginPaths == nil { manifest.plugins = [] }
        let components = overlay.components
        let fakes = LinkedPlugin(id: "org.backplane.testkit.fakes", version: "1.0.0") { registrar in
            for component in components { component.fake.register(&registrar, component.role, component.className) }
        }
        // Nobody watches Swift's thread pool: tests that run beside this one occupy it.
        host = PluginHost(
            manifest: ManifestDocument(manifest), linked: plugins.map { LinkedPlugin($0) } + (components.isEmpty ? [] : [fakes]),
            options: HostOptions(
                pluginPaths: pluginPaths ?? [], loadFolder: folder + "/loads", dataFolder: folder + "/data", log: log, executors: [http],
                openStore: { [store] _, _ in store }, lanes: lanes, occupationLimit: nil))
    }

    /// A manager by its name, started if it was not, as `PluginHost.manager(_:as:)` gives it.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self) async throws(BackplaneError) -> Remote<C> {
        try await host.manager(name, as: C.self)
    }

    /// A manager by a name that knows its contract, started if it was not.
    public func manager<C: Contract>(_ name: ManagerName<C>) async throws(BackplaneError) -> Remote<C> {
        try await host.manager(name)
    }

    /// A call that begins here.
    public func begin(within duration: Duration? = nil) -> Call { host.begin(within: duration) }
}
