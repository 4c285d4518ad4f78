public import Backplane
public import BackplaneHost

extension TestHost {
    /// Makes a host, hands it to a test, and stops it when the test is through, however that ends.
    ///
    /// ```swift
    /// try await TestHost.run(Manifest(contentsOf: "backplane.json"), plugins: [BookshelfPlugin.self], fakes: [
    ///     .communicationController(of: "LibraryManager"): Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
    /// ]) { host in
    ///     let library = try await host.manager("LibraryManager", as: Library.self)
    ///     …
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - plugins: those that are linked into the tests.
    ///   - fakes: what takes whose place.
    ///   - pluginPaths: where the manifest's libraries are; `nil`: what is linked stands for them, and none is loaded.
    ///   - lanes: `LaneRule.encoded` to see that the contracts survive JSON.
    /// - Throws: ``ManifestRefused`` with everything that is wrong with the manifest, before anything starts; what the test
    ///   throws; `network.unexpected` when there was a request that the test did not say how to answer.
    public static func run<Result>(
        _ manifest: Manifest, plugins: [any Plugin.Type], fakes: [Fake.Place: Fake] = [:], pluginPaths: [String]? = nil, lanes: LaneRule = .fastest,
        _ body: (TestHost) async throws -> Result
    ) async throws -> Result {
        let folder = try TestFolder()
        defer { folder.remove() }
        let test = TestHost(try Overlay(manifest, fakes), plugins: plugins, pluginPaths: pluginPaths, lanes: lanes, in: folder.path)
        do {
            try await test.requireSound()
            let result = try await body(test)
            await test.host.stop()
            try test.http.requireNothingUnexpected()
            return result
        } catch {
            await test.host.stop()
            throw error
        }
    }

    /// The same for one manager, named as its class, of which everything around it is fakes.
    ///
    /// ```swift
    /// try await TestHost.run("LibraryManager", plugins: [BookshelfPlugin.self], fakes: [
    ///     .communicationController: Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
    /// ]) { host in … }
    /// ```
    public static func run<Result>(
        _ className: String, configuration: [String: ManifestValue] = [:], plugins: [any Plugin.Type], fakes: [Fake.Place: Fake] = [:],
        lanes: LaneRule = .fastest, _ body: (TestHost) async throws -> Result
    ) async throws -> Result {
        let manifest = Manifest(managers: [className: ManagerDefinition(className: className, configuration: configuration)])
        return try await run(manifest, plugins: plugins, fakes: fakes, lanes: lanes, body)
    }

    private func requireSound() async throws {
        let errors = await host.check().filter { $0.severity == .error }
        if !errors.isEmpty { throw ManifestRefused(problems: errors) }
    }
}
