import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// The commands of docs/credentials.md, run with the page's manifest and a server in the place of the page's.
@Suite(.timeLimit(.minutes(5)))
struct CredentialsInShellTests {
    private let tool: Tool
    private let commands: [String]
    /// The manifest's `network`.
    private let network: String

    init() throws {
        tool = try Tool()
        commands = try Page("docs/credentials.md").blocks.filter { $0.kind == "run" }.map(\.text)
        let page = try String(contentsOf: Page.root.appending(path: "docs/credentials.md"), encoding: .utf8)
        network = String(try #require(page.firstMatch(of: /```json\n([\s\S]*?)```/)).1)
    }

    private func server() throws -> TestServer {
        try TestServer { request, connection in
            switch (request.target, request["Authorization"]) {
            case ("/sessions", nil) where request.body == Array(#"{"password":"planted-moby","reader":"ann"}"#.utf8):
                connection.answer("200 OK", body: Array(#"{"token": "planted-t1", "expires": 300}"#.utf8))
            case ("/shelf", "Bearer planted-t1"): connection.answer("200 OK", body: Array("a shelf\n".utf8))
            default: connection.answer("401 Unauthorized")
            }
        }
    }

    /// Replaces the page's hosts by a server.
    private func replacing(_ text: String, _ server: TestServer) -> String {
        text.replacing("https://books.example.org", with: server.url(""))
            .replacing(/(books|archive)\.example\.org/, with: "127.0.0.1")
    }

    /// Runs the lines of a block in the manifest's folder, where `pass` prints the password.
    private func run(_ lines: String) async throws -> Tool.Outcome {
        let commands = tool.folder + "/bin", files = FileManager.default
        if !files.fileExists(atPath: commands) {
            try files.createDirectory(atPath: commands, withIntermediateDirectories: true)
            let pass = try tool.write("#!/bin/sh\n[ \"$*\" = 'show library' ] && echo planted-moby\n", as: "bin/pass")
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: pass)
            try files.createSymbolicLink(
                atPath: commands + "/backplane", withDestinationPath: Tool.built + "/backplane")
        }
        return try await RunningTool(
            ["-e", "-c", lines], of: "/bin/sh", input: nil, environment: environment, in: tool.folder
        ).end()
    }

    private var environment: [String: String] {
        [
            "PATH": "\(tool.folder)/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": tool.folder,
            "XDG_STATE_HOME": tool.folder + "/state", "ARCHIVE_PASSWORD": "planted-whale",
        ]
    }

    private func writeManifest(_ network: String) throws -> String {
        try tool.write(
            #"{"manifestVersion": 1, "plugins": [], "managers": {}, \#(network)}"#, as: "backplane.json")
    }

    @Test func `an account of a running host is signed in and out as the page says`() async throws {
        let server = try server(), manifest = try writeManifest(replacing(network, server))
        let host = try RunningTool(["run", manifest], input: nil, environment: environment, in: tool.folder)
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let outcome = try await run(replacing(try #require(commands.first), server))
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("archive") } && lines.contains { $0.hasPrefix("library") })
        #expect(lines.contains { $0.hasPrefix("library") && $0.contains("ann") && $0.contains("signed in") })
        let after = try await run("backplane credentials list --running")
        #expect(!after.output.contains("signed in"), "\(after)")
        #expect(!"\(outcome)\(after)".contains("planted"))
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `a token that is kept is used by a request as the page says`() async throws {
        let server = try server()
        let kept = network.replacing(#""token": "/token","#, with: #""keep": true, "token": "/token","#)
        #expect(kept != network && commands.count == 2)
        _ = try writeManifest(replacing(kept, server))
        let outcome = try await run(replacing(try #require(commands.last), server))
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.hasSuffix("\na shelf\n") && !outcome.output.contains("planted"), "\(outcome)")
    }
}
