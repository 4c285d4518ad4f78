import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// `backplane credentials`: lists, signs in and out, with a manifest and with a running host.
@Suite(.timeLimit(.minutes(5)))
struct CredentialsTests {
    private let tool: Tool
    init() throws { tool = try Tool() }

    /// A server that gives tokens for the password `white`, and a book for the tokens.
    private func server() throws -> TestServer {
        try TestServer { request, connection in
            let body = String(decoding: request.body, as: UTF8.self)
            switch (request.target, request["Authorization"]) {
            case ("/sessions", _) where body == #"{"password":"white","reader":"ann"}"#:
                connection.answer("200 OK", body: Array(#"{"token": "planted-token"}"#.utf8))
            case ("/sessions", _): connection.answer("401 Unauthorized", body: Array("no planted-password".utf8))
            case (_, "Bearer planted-token"): connection.answer("200 OK", body: Array("a book".utf8))
            default: connection.answer("401 Unauthorized")
            }
        }
    }

    private func manifest(_ server: TestServer) throws -> String {
        try tool.write(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {}, "network": {"credentials": {
              "archive": {"type": "basic", "hosts": ["archive.test"], "user": "ann", "password": "planted-password"},
              "kept": {"type": "bearer", "hosts": ["127.0.0.1"], "keep": true, "token": "/token",
                "signIn": {"url": "\(server.url("/sessions"))",
                  "json": {"reader": {"value": "reader"}, "password": {"value": "password"}}}},
              "library": {"type": "bearer", "hosts": ["127.0.0.1"], "token": "/token",
                "signIn": {"url": "\(server.url("/sessions"))",
                  "json": {"reader": {"value": "reader"}, "password": {"value": "password"}}}}
            }}}
            """, as: "credentials.json")
    }

    private func run(_ arguments: String..., input: String? = nil) async throws -> Tool.Outcome {
        try await tool.start(["credentials"] + arguments, input: input).end()
    }

    @Test func `a token that is kept is signed in without a host, used by another command, and signed out`()
        async throws
    {
        let server = try server(), manifest = try manifest(server)
        let empty = try await run("list", manifest, "--data", tool.data)
        #expect(empty.status == 0 && !empty.output.contains("planted"), "\(empty)")
        #expect(empty.output.contains("password, reader") && empty.output.contains("archive.test"), "\(empty)")

        let place = ["--manifest", manifest, "--data", tool.data]
        let signedIn = try await tool.start(
            ["credentials", "sign-in", "kept", "--account", "ann", "--value", "reader=ann", "--value-fd", "password=0"]
                + place, input: "white\nnot read\n"
        ).end()
        #expect(signedIn.status == 0 && UInt64(signedIn.output.dropLast()) != nil, "\(signedIn)")
        #expect(signedIn.errors == "")

        let list = try await tool.start(["credentials", "list", "--json"] + place).end()
        let rows = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        let accounts = try #require(rows.first { $0["name"] as? String == "kept" }?["accounts"] as? [[String: Any]])
        #expect(
            accounts.count == 1 && accounts[0]["name"] as? String == "ann" && accounts[0]["isKept"] as? Bool == true)
        #expect(accounts[0]["principal"] as? String == String(signedIn.output.dropLast()))
        #expect(!list.output.contains("planted") && !list.output.contains("white"))

        let use =
            ["request", server.url("/shelf"), "--manifest", manifest, "--data-folder", tool.data]
            + ["--credentials", "kept", "--account", "ann"]
        let used = try await tool.start(use + ["--verbose"]).end()
        #expect(used.status == 0 && used.output == "a book" && !used.errors.contains("planted"), "\(used)")

        let out = try await tool.start(["credentials", "sign-out", "kept", "--account", "ann"] + place).end()
        #expect(out.status == 0 && out.output == "", "\(out)")
        let after = try await run("list", manifest, "--data", tool.data)
        #expect(!after.output.contains("ann"), "\(after)")
        let unused = try await tool.start(use).end()
        #expect(unused.status == 1 && unused.errors.contains("network.credential"), "\(unused)")
    }

    @Test func `accounts of a running host are signed in and out`() async throws {
        let server = try server(), manifest = try manifest(server)
        let host = try await tool.startRun(manifest)
        let wrong = try await tool.start(
            ["credentials", "sign-in", "library", "--value", "reader=ann", "--value-fd", "password=0", "--running"],
            input: "black"
        ).end()
        #expect(wrong.status == 1 && wrong.errors.contains("network.sign-in") && !wrong.errors.contains("planted"))
        #expect(!wrong.errors.contains("black"), "\(wrong)")
        let right = try await tool.start(
            ["credentials", "sign-in", "library", "--value", "reader=ann", "--value-fd", "password=0", "--running"],
            input: "white"
        ).end()
        #expect(right.status == 0, "\(right)")
        let list = try await run("list", "--running")
        #expect(list.output.contains("signed in") && list.output.contains(right.output.dropLast()), "\(list)")
        #expect(try await run("sign-out", "library", "--running").status == 0)
        let after = try await run("list", "--running")
        #expect(!after.output.contains("signed in"), "\(after)")
        host.signal(SIGTERM)
        _ = await host.end()
    }

    @Test(.enabled(if: TerminalRun.isPossible, "there are no terminals"))
    func `a password is asked for on the terminal, which does not show it`() async throws {
        let server = try server(), manifest = try manifest(server)
        let run = try TerminalRun(
            "\(BuiltProducts.folder)/backplane credentials sign-in kept --value reader=ann --manifest \(manifest) --data \(tool.data); echo ended $?",
            environment: ["XDG_RUNTIME_DIR": tool.folder])
        #expect(await run.says("password: "))
        #expect(!run.isOrdinary, "nothing that is typed appears")
        try run.type("white\n")
        #expect(await run.says("ended 0"), "\(run.text)")
        #expect(!run.text.contains("white") && run.isOrdinary, "\(run.text)")
    }
}
