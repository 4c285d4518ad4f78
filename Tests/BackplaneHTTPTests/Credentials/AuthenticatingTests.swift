import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// Schemes of an application's own: functions of a program, authenticators, and managers in Swift and C.
@Suite(.timeLimit(.minutes(5)))
struct AuthenticatingTests {
    private static let key = "white whale"

    /// A server that accepts what is signed with the key, and the requests that it was sent.
    private func signedServer() throws -> TestServer {
        try TestServer { request, connection in
            let digest = ContentDigest.sha256(of: request.body).hexadecimal
            let url = "http://\(request["Host"] ?? "")\(request.target)"
            let expected = "HMAC " + HMAC.text(Self.key, "\(request.method)\n\(url)\n\(digest)")
            let isGood = request["Authorization"] == expected
            connection.answer(
                isGood ? "200 OK" : "401 Unauthorized", [("WWW-Authenticate", "HMAC")], body: Array("a book".utf8))
        }
    }

    /// Returns a scheme that signs as the server expects.
    private func signing(_ key: String) -> AuthenticationScheme {
        AuthenticationScheme("signing", digests: true) { request in
            let text = "\(request.method)\n\(request.url)\n\(request.digest ?? "")"
            return ["Authorization": "HMAC \(HMAC.text(key, text))"]
        }
    }

    private func network(
        _ scheme: AuthenticationScheme, _ engine: Engine = .urlSession, filters: [ExchangeFilter] = []
    ) -> HTTPPipeline {
        let own = Credential(hosts: ["127.0.0.1"], .custom(scheme))
        return HTTPPipeline([engine.executor()], credentials: Credentials(["own": own]), filters: filters)
    }

    private func options(_ account: String? = nil) -> HTTPOptions {
        var options = HTTPOptions()
        (options.credential, options.account) = ("own", account)
        return options
    }

    private func failure(_ network: HTTPPipeline, _ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(request, options()) }
    }

    @Test func `HMAC is that of RFC 4231`() {
        #expect(
            HMAC.text("Jefe", "what do ya want for nothing?")
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    // MARK: Programs

    @Test(arguments: Engine.allCases)
    func `functions of a program sign head and body`(engine: Engine) async throws {
        let server = try signedServer(), url = server.url("/books?q=a%20b")
        let file = FileManager.default.temporaryDirectory.appending(path: "signed-\(UUID().uuidString)").path
        try Data("in a file".utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for body in [HTTPBody.none, .text("whale"), .file(file)] {
            let request = HTTPRequest(body.isEmpty ? "GET" : "POST", url, body: body)
            #expect(try await network(signing(Self.key), engine).send(request, options()).status == 200)
            let refused = try await network(signing("another"), engine).send(request, options())
            #expect(refused.status == 401 && refused.body == Array("a book".utf8), "the response is the result")
        }
    }

    @Test(arguments: Engine.allCases)
    func `a challenge is answered, told how often that has failed`(engine: Engine) async throws {
        let count = Mutex(0), shown = Recording<String>()
        let server = try TestServer { request, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            shown.add(request["X-Proof"] ?? "none")
            let isGood = request.target == "/good" && number == 3
            connection.answer(
                isGood ? "200 OK" : "401 Unauthorized", [("WWW-Authenticate", "Riddle nonce=\(number)")],
                body: Array("answer \(number)".utf8))
        }
        let scheme = AuthenticationScheme("riddle") { request in
            #expect(request.failures == 0 && request.status == nil && request.proof.isEmpty)
            return [:]
        } answer: { request in
            #expect(request.status == 401)
            let nonce = request.challenge["WWW-Authenticate"] ?? ""
            let before = request.proof.map { "\($0)" }.joined()
            return request.failures > 2 ? [:] : ["X-Proof": "\(request.failures) to \(nonce) after [\(before)]"]
        }
        let network = network(scheme, engine)
        #expect(try await network.send(HTTPRequest("GET", server.url("/good")), options()).status == 200)
        let first = "1 to Riddle nonce=1 after []"
        #expect(shown.all == ["none", first, "2 to Riddle nonce=2 after [[\"X-Proof\", \"\(first)\"]]"])
        count.withLock { $0 = 0 }
        let response = try await network.send(HTTPRequest("GET", server.url("/bad")), options())
        #expect(response.status == 401 && response.body == Array("answer 3".utf8), "it gave up after the third")
        count.withLock { $0 = 0 }
        let path = FileManager.default.temporaryDirectory.appending(path: "riddle-\(UUID().uuidString)").path
        let download = try await network.download(HTTPRequest("GET", server.url("/bad")), to: path, options())
        #expect(download.status == 401 && !FileManager.default.fileExists(atPath: path))
    }

    @Test func `an authenticator that never gives up ends after five answers`() async throws {
        let count = Counted()
        let server = try TestServer { _, connection in
            count.add(1)
            connection.answer("401 Unauthorized")
        }
        let scheme = AuthenticationScheme("endless") { _ in
            ["X-Proof": "a"]
        } answer: { _ in
            ["X-Proof": "a"]
        }
        #expect(try await network(scheme).send(HTTPRequest("GET", server.url()), options()).status == 401)
        #expect(count.value == 6)
    }

    @Test func `an account has a name, a principal and the values that it was signed in with`() async throws {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["X-Proof"] ?? "none").utf8))
        }
        let scheme = AuthenticationScheme("told") { request in
            ["X-Proof": "<\(request.account)> \(request.principal) \(request.values["key"] ?? "no key")"]
        }
        let network = network(scheme), request = HTTPRequest("GET", server.url())
        let error = await #expect(throws: BackplaneError.self) { try await network.send(request, options("ann")) }
        #expect(error?.code == .networkCredential, "it is not signed in")
        let principal = try await network.signIn("own", as: "ann", with: ["key": "moby"])
        let signedIn = try await network.send(request, options("ann")).body
        #expect(String(decoding: signedIn, as: UTF8.self) == "<ann> \(principal) moby")
        let nameless = String(decoding: try await network.send(request, options()).body, as: UTF8.self)
        #expect(nameless.hasPrefix("<> ") && nameless.hasSuffix(" no key"))
    }

    @Test func `an authenticator of a program's own serves one account`() async throws {
        /// One that counts what it is told.
        final class Turnstile: Authenticator {
            let passed = Counted()

            func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) -> HTTPRequest {
                var request = request
                request.headers["X-Proof"] = "\(passed.value)"
                return request
            }

            func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool {
                response.status == 403 && failures == 0
            }

            func answer(
                _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
                over network: HTTPPipeline
            ) -> HTTPRequest? {
                var request = request
                request.headers["X-Proof"] = "again \(failures)"
                return request
            }

            func received(_ response: HTTPResponse, to sent: HTTPRequest) { passed.add(1) }
        }
        let server = try TestServer { request, connection in
            connection.answer(
                request["X-Proof"] == "0" ? "403 Forbidden" : "200 OK", body: Array((request["X-Proof"] ?? "").utf8))
        }
        let made = Counted()
        let network = network(
            AuthenticationScheme.authenticators("turnstile") { account in
                made.add(1)
                return Turnstile()
            })
        for expected in ["again 1", "1"] {
            let body = try await network.send(HTTPRequest("GET", server.url()), options()).body
            #expect(String(decoding: body, as: UTF8.self) == expected)
        }
        #expect(made.value == 1)
    }

    @Test func `what breaks the rules fails the exchange, and nothing is sent`() async throws {
        struct Locked: ComponentError {
            var code: String { "key.locked" }
            var message: String { "the key is locked" }
        }
        let sent = Counted()
        let server = try TestServer { _, connection in
            sent.add(1)
            connection.answer("200 OK")
        }
        let request = HTTPRequest("GET", server.url("/?key=1"), headers: ["X-Own": "1"])
        let locked = await failure(network(AuthenticationScheme("signer") { _ in throw Locked() }), request)
        #expect(
            locked?.description
                == "\(server.url("/")): network.sign-in: the authenticator `signer` failed: the key is locked")
        #expect(locked?.causes.first?.failure?.code == "key.locked")
        for (field, words) in [("X-Own", "already has"), ("Host", "belongs to the exchange"), ("Cookie", "belongs")] {
            let scheme = AuthenticationScheme("signer") { _ in [field: "x"] }
            let error = await failure(network(scheme), request)
            #expect(error?.code == .networkRefused && error?.message.contains(words) == true, "\(field)")
        }
        let stream = HTTPBody.stream(HTTPBodyStream(Array("once".utf8)))
        let once = await failure(
            network(signing("a"), .asyncHTTPClient), HTTPRequest("POST", server.url(), body: stream))
        #expect(once?.code == .networkBody)
        #expect(sent.value == 0)
    }

    @Test func `no filter sees a proof`() async throws {
        let server = try TestServer { $1.answer("200 OK") }, seen = Recording<String>()
        let watching = ExchangeFilter(
            "watching",
            attempts: { head in
                seen.add(head.fields.fields.map(\.name).joined(separator: " "))
                return [:]
            })
        let scheme = AuthenticationScheme("proving") { _ in ["X-Proof": "secret", "Authorization": "Own secret"] }
        let network = network(scheme, filters: [watching])
        let request = HTTPRequest("GET", server.url(), headers: ["X-Own": "1"])
        #expect(try await network.send(request, options()).status == 200)
        #expect(seen.all == ["X-Own"])
        let received = await server.requests.first { _ in true }
        #expect(received?["X-Proof"] == "secret")
    }

    @Test func `a manager outside of a host is refused`() async throws {
        let network = HTTPPipeline(
            [Engine.urlSession.executor()],
            credentials: Credentials(["own": Credential(hosts: ["127.0.0.1"], .component("Signer"))]))
        let error = await failure(network, HTTPRequest("GET", "http://127.0.0.1:1/"))
        #expect(error?.code == .networkUnsupported && error?.message.contains("only a host has managers") == true)
    }

    // MARK: Managers

    /// Runs a host with a manager that proves the credential `own`, and a component that lends its context.
    private func with(
        _ manager: ManagerDefinition, _ values: [String: Secret] = [:], plugins: [PluginReference] = [],
        lanes: LaneRule = .fastest, _ body: (PluginHost, LendingCommunication.Context) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authenticating-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = UUID().uuidString
        var manifest = LendingPlugin.manifest(of: key)
        manifest.plugins = plugins
        manifest.managers["Signer"] = manager
        manifest.network.credentials["own"] = Credential(
            hosts: ["127.0.0.1"], .component("Signer", values: values), managers: ["LendingManager", "Signer"])
        let options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", executors: [Engine.urlSession.executor()],
            lanes: lanes, occupationLimit: nil)
        let host = PluginHost(
            manifest: manifest, plugins: [LendingPlugin.self, SigningPlugin.self], options: options)
        do {
            try await host.start()
            try await body(host, try #require(LendingCommunication.contexts.withLock { $0.removeValue(forKey: key) }))
            await host.stop()
        } catch {
            await host.stop()
            throw error
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a manager in Swift signs what components send`(lanes: LaneRule) async throws {
        let server = try signedServer()
        try await with(
            ManagerDefinition(className: "BookSigner"), ["key": Secret(Self.key)], lanes: lanes
        ) { host, context in
            for body in [HTTPBody.none, .text("whale")] {
                let request = HTTPRequest(body.isEmpty ? "GET" : "POST", server.url("/books?q=1"), body: body)
                #expect(try await context.http.send(request, context.begin(), options()).status == 200)
                #expect(try await host.network.send(request, options()).status == 200)
            }
            let other = try await context.http.signIn("own", as: "ann", with: ["key": "another"], context.begin())
            #expect(other != 0)
            let request = HTTPRequest("GET", server.url())
            #expect(try await context.http.send(request, context.begin(), options("ann")).status == 401)
        }
    }

    @Test func `a manager in C signs, and its error fails the exchange`() async throws {
        let server = try signedServer(), request = HTTPRequest("POST", server.url("/books?q=1"), body: .text("whale"))
        let folder = FileManager.default.temporaryDirectory.appending(path: "authenticator-in-c-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let library = PluginReference(
            library: try ExecutorInC.compile("1.0.0", of: "AuthenticatorInC/authenticator", in: folder))
        let authenticator = ManagerDefinition(className: "AuthenticatorInC")
        try await with(authenticator, ["key": Secret(Self.key)], plugins: [library]) { _, context in
            let response = try await context.http.send(request, context.begin(), options())
            #expect(response.status == 200)
        }
        try await with(authenticator, plugins: [library]) { _, context in
            let error = await #expect(throws: BackplaneError.self) {
                try await context.http.send(request, context.begin(), options())
            }
            #expect(error?.code == .networkSignIn)
            #expect(error?.message == "the authenticator `Signer` failed: the credential has no value `key`")
        }
    }

    @Test func `an authenticator's own exchanges do not choose what it proves`() async throws {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["X-Proof"] ?? "none").utf8))
        }
        let key = UUID().uuidString, lent = UUID().uuidString
        let context = Mutex<LendingCommunication.Context?>(nil), refused = Recording<BackplaneError.Code?>()
        ScriptedAuthenticator.scripts.withLock {
            $0[key] = { _, call in
                let own = try #require(context.withLock { $0 })
                let request = HTTPRequest("GET", server.url("/token"))
                let plain = String(decoding: try await own.http.send(request, call).body, as: UTF8.self)
                let error = await #expect(throws: BackplaneError.self) {
                    try await own.http.send(request, call, options())
                }
                refused.add(error?.code)
                return [["X-Proof", "after \(plain)"]]
            }
        }
        let manager = ManagerDefinition(
            className: "ScriptedAuthenticator", configuration: ["key": .string(key)],
            communicationController: CommunicationControllerDefinition(
                className: "LendingCommunication", configuration: ["key": .string(lent)]))
        try await with(manager) { host, lender in
            context.withLock { context in
                context = LendingCommunication.contexts.withLock { $0.removeValue(forKey: lent) }
            }
            let response = try await lender.http.send(HTTPRequest("GET", server.url()), lender.begin(), options())
            #expect(String(decoding: response.body, as: UTF8.self) == "after none")
            #expect(refused.all == [.networkCredential])
        }
    }

    @Test func `a manager that is missing, or proves nothing, is an error of the manifest`() async throws {
        let text = """
            {"manifestVersion": 1, "managers": {"LendingManager": {"className": "LendingManager"}},
             "network": {"credentials": {
               "a": {"type": "component", "hosts": ["a.test"], "manager": "LendingManager", "values": {"key": "${KEY}"}},
               "b": {"type": "component", "hosts": ["a.test"], "manager": "LendngManager"}}}}
            """
        let document = ManifestDocument(parsing: Data(text.utf8)) { _ in "white whale" }
        #expect(document.problems.isEmpty, "\(document.problems)")
        let first = document.manifest.network.credentials["a"]?.scheme
        #expect(first == .component("LendingManager", values: ["key": "white whale"]))
        let host = PluginHost(manifest: document, plugins: [LendingPlugin.self])
        let errors = await host.check().map(\.error).filter { $0.location?.contains("/network") == true }
        #expect(errors.map(\.code) == [.wireMismatch, .unknownManager], "\(errors)")
        #expect(errors.first?.message.contains("an authenticator provides Authenticating 1.0.0") == true)
        await host.stop()
    }
}
