import Foundation
import Testing

/// Two packages with plugins, for tests of the development loop.
struct Workspace {
    private let packages: PackagesFolder
    var scratchPath: String { packages.scratchPath }
    /// With two plugins that share a contract, and the manifest.
    let folder: String
    /// With one.
    let annex: String
    var manifest: String { folder + "/backplane.json" }

    /// All as it is in the beginning.
    init() throws {
        packages = try PackagesFolder(keeping: "workbench", "annex")
        (folder, annex) = (packages.path + "/workbench", packages.path + "/annex")
        for stale in [".git", "Sources/Latecomer"] { try? FileManager.default.removeItem(atPath: folder + "/" + stale) }
        try begin("Package.swift", Self.package())
        try begin("backplane.json", Self.manifest("Annex"))
        try begin("Sources/WorkspaceContracts/Contracts.swift", Self.contracts())
        try begin("Sources/GreetingProvider/GreetingProvider.swift", Self.provider("!"))
        try begin("Sources/GreetingProvider/greeting.txt", "Hello")
        try begin("Sources/GreetingCaller/GreetingCaller.swift", Self.caller("How are you?"))
        try begin("../annex/Package.swift", Self.annexPackage)
        try begin("../annex/Sources/Annex/Annex.swift", Self.constant("Annex", "one"))
    }

    func path(_ name: String) -> String { URL(filePath: folder + "/" + name).standardizedFileURL.path }

    /// A file that is there as it should be keeps its date.
    private func begin(_ name: String, _ text: String) throws {
        guard (try? String(contentsOfFile: path(name), encoding: .utf8)) != text else { return }
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path(name)).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try save(name, text)
    }

    /// Writes into the file that is there.
    func save(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

    /// Writes another file, and moves it into its place, as editors do.
    func saveByRenaming(_ name: String, _ text: String) throws {
        let temporary = path(name) + ".sb-5a5a"
        try Data(text.utf8).write(to: URL(filePath: temporary))
        try #require(rename(temporary, path(name)) == 0)
    }

    func git(_ words: String...) async throws {
        let identity = [
            "-c", "user.name=Workspace", "-c", "user.email=workbench@example.org", "-c", "core.hooksPath=/dev/null",
        ]
        let outcome = try await RunningTool(["git", "-C", folder] + identity + words, of: "/usr/bin/env", input: nil)
            .end()
        try #require(outcome.status == 0, "\(outcome.errors)")
    }
}
