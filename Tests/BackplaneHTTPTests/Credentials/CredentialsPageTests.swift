import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// The page on credentials (docs/credentials.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(10)))
struct CredentialsPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/credentials.md")

    private static func blocks(_ kind: String) throws -> [String] {
        try String(contentsOf: page, encoding: .utf8).split(separator: "```\(kind)\n").dropFirst()
            .map { String($0.prefix(upTo: try #require($0.range(of: "```")).lowerBound)) }
    }

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let signing = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "SigningPlugin.swift")
        let source = lines(
            try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
                + String(contentsOf: signing, encoding: .utf8))
        let blocks = try Self.blocks("swift")
        #expect(blocks.count == 7)
        for block in blocks {
            #expect(source.firstRange(of: lines(block)) != nil, "\(block)")
        }
    }

    /// Returns the page's `network`, with a server on loopback in the place of the page's.
    private func network(_ server: TestServer) throws -> NetworkSettings {
        let block = try #require(try Self.blocks("json").first)
            .replacing("https://books.example.org", with: server.url("")).replacing(
                "books.example.org", with: "127.0.0.1"
            )
            .replacing("archive.example.org", with: "127.0.0.1")
        let text = #"{"manifestVersion": 1, "managers": {}, \#(block)}"#
        let document = ManifestDocument(parsing: Data(text.utf8)) { _ in "white whale" }
        #expect(document.problems.isEmpty, "\(document.problems)")
        return document.manifest.network
    }

    @Test func `a plugin names a credential and an account`() async throws {
        let basic = "Basic " + Data("ann:white whale".utf8).base64EncodedString(), password = "moby"
        let server = try TestServer { request, connection in
            switch (request.target, request["Authorization"]) {
            case ("/sessions", nil) where request.body == Array(#"{"password":"moby","reader":"ann"}"#.utf8):
                connection.answer("200 OK", body: Array(#"{"token": "t1", "expires": 300, "refresh": "r1"}"#.utf8))
            case ("/shelf", "Bearer t1"): connection.answer("200 OK", body: Array(#"["Moby-Dick"]"#.utf8))
            case ("/archive", basic): connection.answer("200 OK")
            default: connection.answer("400 Bad Request")
            }
        }
        let settings = try network(server), url = server.url("/archive")
        var manifest = LendingPlugin.manifest(of: "credentials-page")
        manifest.network = settings
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let host = PluginHost(
            manifest: manifest, plugins: [LendingPlugin.self],
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", executors: [AsyncHTTPClientExecutor()],
                occupationLimit: nil))
        try await host.start()
        let context = try #require(
            LendingCommunication.contexts.withLock { $0.removeValue(forKey: "credentials-page") })
        let http = context.http.relative(to: server.url("/")), call = context.begin()
        do {
            var options = HTTPOptions()
            options.credential = "archive"
            let response = try await http.send(HTTPRequest("GET", url), call, options)
            #expect(response.status == 200)
        }
        do {
            let principal = try await http.signIn(
                "library", as: "ann", with: ["reader": "ann", "password": password], call)
            #expect(principal != 0)
            var shelf = Endpoint<[String]>("GET", "shelf")
            shelf.options.credential = "library"
            shelf.options.account = "ann"
            #expect(try await http.load(shelf, call) == ["Moby-Dick"])
            try http.signOut("library", account: "ann")
            let signedOut = shelf
            let error = await #expect(throws: BackplaneError.self) { try await http.load(signedOut, call) }
            #expect(error?.code == .networkCredential)
        }
        await host.stop()
    }

    @Test func `a program has credentials of its own`() async throws {
        let server = try TestServer { request, connection in
            connection.answer(request["Authorization"] == nil ? "401 Unauthorized" : "204 No Content")
        }
        let credentials = Credentials([
            "archive": Credential(hosts: ["127.0.0.1"], .basic(Login(user: "ann", password: "white whale")))
        ])
        let http = HTTPClient(HTTPPipeline([AsyncHTTPClientExecutor()], credentials: credentials))
        var options = HTTPOptions()
        options.credential = "archive"
        #expect(try await http.send(HTTPRequest("GET", server.url()), Call(), options).status == 204)
        #expect(try await http.send(HTTPRequest("GET", server.url()), Call()).status == 401)
    }

    @Test func `a program has a scheme of its own`() async throws {
        @Sendable func signature(of request: AuthenticatedRequest) -> String {
            HMAC.text("white whale", request.digest ?? "")
        }
        let server = try TestServer { request, connection in
            let digest = ContentDigest.sha256(of: request.body).hexadecimal
            let isGood = request["Authorization"] == "HMAC \(HMAC.text("white whale", digest))"
            connection.answer(isGood ? "204 No Content" : "401 Unauthorized")
        }
        let signing = AuthenticationScheme("signing", digests: true) { request in
            ["Authorization": "HMAC \(signature(of: request))"]
        }
        let signed = Credential(hosts: ["127.0.0.1"], .custom(signing))
        let network = HTTPPipeline([AsyncHTTPClientExecutor()], credentials: Credentials(["signed": signed]))
        var options = HTTPOptions()
        options.credential = "signed"
        #expect(try await network.send(HTTPRequest("POST", server.url(), body: .text("a")), options).status == 204)
    }

    @Test func `the manifest of a scheme of its own is read`() throws {
        let block = try #require(try Self.blocks("json").last)
        let text = #"{"manifestVersion": 1, "managers": {}, \#(block)}"#
        let document = ManifestDocument(parsing: Data(text.utf8)) { _ in "white whale" }
        #expect(document.problems.isEmpty, "\(document.problems)")
        let scheme = document.manifest.network.credentials["signed"]?.scheme
        #expect(scheme == .component("BookSigner", values: ["key": "white whale"]))
    }

    @Test func `the page lists the keys that the reader knows`() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        for key in [
            "type", "hosts", "managers", "cookies", "user", "password", "preemptive", "secret", "signIn", "refresh",
            "token",
            "expires", "refreshToken", "keep", "manager", "values",
        ] { #expect(page.contains("`\(key)`"), "\(key)") }
    }
}
