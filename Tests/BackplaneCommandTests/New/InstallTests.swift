import Foundation
import TestFixtures
import Testing

/// `make install`, of what the tests have built already.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct InstallTests {
    private let tool: Tool
    /// With a space in it, as paths may have.
    private var prefix: String { tool.folder + "/a prefix" }

    init() throws { tool = try Tool() }

    private func make(_ target: String) async throws -> Tool.Outcome {
        let arguments = ["-C", Page.root.path, target, "BUILT=\(BuiltProducts.folder)", "PREFIX=\(prefix)", "DESTDIR="]
        return try await RunningTool(["make", "--no-print-directory"] + arguments, of: "/usr/bin/env", input: nil).end()
    }

    private func files() throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: prefix).filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: prefix + "/" + path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            })
    }

    @Test func `an installed command finds what it needs, and the package that it was built from; nothing of it stays`()
        async throws
    {
        let installed = try await make("install")
        try #require(installed.status == 0, "\(installed.errors)")
        let completions: Set = [
            "share/bash-completion/completions/backplane", "share/zsh/site-functions/_backplane",
            "share/fish/vendor_completions.d/backplane.fish",
        ]
        let templates = try FileManager.default.contentsOfDirectory(
            atPath: Page.root.path + "/Sources/BackplaneTools/Templates")
        #expect(
            try files()
                == completions.union(["bin/backplane", "bin/backplane.debug"]).union(
                    templates.map { "share/backplane/templates/\($0)" }))

        let command = prefix + "/bin/backplane"
        let check = try await RunningTool(
            ["check", Tool.almanac, "--plugin-path", BuiltProducts.folder], of: command, input: nil
        ).end()
        #expect(check.status == 0, "\(check.errors)")
        let made = try await RunningTool(["new", "package", "Tides"], of: command, input: nil, in: tool.folder).end()
        #expect(made.status == 0, "\(made.errors)")
        let package = try String(contentsOfFile: tool.folder + "/Tides/Package.swift", encoding: .utf8)
        #expect(package.contains("path: \"\(Page.root.path)"))

        let uninstalled = try await make("uninstall")
        #expect(uninstalled.status == 0)
        #expect(try files() == [])
    }
}
