public import Backplane
public import BackplaneHost

extension TestHost {
    /// Creates a host, passes it to a test, and stops it when the test ends, whether or not it succeeds.
    ///
    /// ```swift
    /// try await TestHost.run(
    ///     Manifest(contentsOf: "backplane.json"), plugins: [BookshelfPlugin.self],
    ///     fakes: [
    ///         .communicationController(of: "LibraryManager"):
    ///             Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
    ///     ]
    /// ) { host in
    ///     let library = try await host.manager("LibraryManager", as: Library.self)
    ///     …
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - manifest: The manifest of the application.
    ///   - plugins: The plugins that are linked into the tests.
    ///   - fakes: The fakes, keyed by their places in the manifest.
    ///   - pluginPaths: The folders that contain the manifest's libraries; `nil` to load none and use the linked
    ///     plugins instead.
    ///   - lanes: The lanes of the wires. `LaneRule.encoded` verifies that the contracts survive JSON encoding.
    ///   - clock: The clock of limits, deadlines and timers, for a test whose fakes also use it.
    ///   - openStore: The function that opens another store than ``store``, for example for full-text search; the
    ///     folder that it receives is removed at the end.
    ///   - body: The test.
    /// - Throws: ``ManifestRefused`` with all errors of the manifest, before any component starts; the test's own
    ///   error; `network.unexpected` if there was a request without a defined answer.
    public static func run<Result>(
        _ manifest: Manifest, plugins: [any Plugin.Type], fakes: [Fake.Place: Fake] = [:], pluginPaths: [String]? = nil,
        lanes: LaneRule = .fastest, clock: TestClock = TestClock(), openStore: HostOptions.StoreOpener? = nil,
        _ body: (TestHost) async throws -> Result
    ) async throws -> Result {
        let test = try TestHost(
            Overlay(manifest, fakes), plugins: plugins, pluginPaths: pluginPaths, lanes: lanes, clock: clock,
            openStore: openStore)
        defer { test.files.remove() }
        do {
            try await test.requireSound()
            let result = try await body(test)
            await test.stop()
            try test.http.requireNothingUnexpected()
            return result
        } catch {
            await test.stop()
            throw error
        }
    }

    /// Creates a host for one manager, with the name of its class, and fakes for everything it uses.
    ///
    /// ```swift
    /// try await TestHost.run("LibraryManager", plugins: [BookshelfPlugin.self], fakes: [
    ///     .communicationController: Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
    /// ]) { host in … }
    /// ```
    ///
    /// - Parameters:
    ///   - className: The name of the manager's class, and of the manager.
    ///   - configuration: The manager's configuration.
    ///   - plugins: The plugins that are linked into the tests.
    ///   - fakes: The fakes, keyed by their places in the manifest.
    ///   - lanes: The lanes of the wires. `LaneRule.encoded` verifies that the contracts survive JSON encoding.
    ///   - clock: The clock of limits, deadlines and timers, for a test whose fakes also use it.
    ///   - body: The test.
    /// - Throws: The errors of ``run(_:plugins:fakes:pluginPaths:lanes:clock:openStore:_:)``.
    public static func run<Result>(
        _ className: String, configuration: [String: ManifestValue] = [:], plugins: [any Plugin.Type],
        fakes: [Fake.Place: Fake] = [:],
        lanes: LaneRule = .fastest, clock: TestClock = TestClock(), _ body: (TestHost) async throws -> Result
    ) async throws -> Result {
        let manifest = Manifest(managers: [
            className: ManagerDefinition(className: className, configuration: configuration)
        ])
        return try await run(manifest, plugins: plugins, fakes: fakes, lanes: lanes, clock: clock, body)
    }

    /// Stops the host while its clock runs, so that the host abandons a component that does not end.
    private func stop() async {
        let time = Task { [clock] in
            while true {
                try await Task.sleep(for: .seconds(1))
                clock.advance(by: .seconds(1))
            }
        }
        await host.stop()
        time.cancel()
    }

    private func requireSound() async throws {
        if let refusal = ManifestRefused(await host.check()) { throw refusal }
    }
}
