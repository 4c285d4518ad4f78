import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
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
        _ scheme: AuthenticationScheme, _ engine: Engine = .urlSession, interceptors: [HTTPInterceptor] = []
    ) -> HTTPPipeline {
        let own = Credential(hosts: ["127.0.0.1"], .custom(scheme))
        return HTTPPipeline([engine.executor()], credentials: Credentials(["own": own]), interceptors: interceptors)
    }

    private func options(_ account: String? = nil) -> HTTPOptions {
        var options = HTTPOptions()
        (options.credential, options.account) = ("own", account)
        return options
    }

    private func failure(_ network: HTTPPipeline, _ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(request, options()) }
    }

    @Test(arguments: Engine.allCases)
    func `functions of a program sign head and body`(engine: Engine) async throws {
        let server = try signedServer(), url = server.url("/books?q=a%20b")
        let files = try TestFolder(), file = files.path + "/signed"
        try Data("in a file".utf8).write(to: URL(filePath: file))
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
            let number = count.next()
            shown.add(request["X-Proof"] ?? "none")
            let isGood = request.target == "/good" && number == 3
            connection.answer(
                isGood ? "200 OK" : "401 Unauthorized", [("WWW-Authenticate", "Riddle nonce=\(number)")],
                body: Array("answer \(number)".utf8))
        }
        let scheme = AuthenticationScheme("riddle") { request in
            #expect(request.failures == 0 && request.status == nil && request.proof.fields.isEmpty)
            return [:]
        } answer: { request in
            #expect(request.status == 401)
            let nonce = request.responseHeaders["WWW-Authenticate"] ?? ""
            let before = request.proof.fields.map { "\($0.name): \($0.value)" }.joined()
            return request.failures > 2 ? [:] : ["X-Proof": "\(request.failures) to \(nonce) after [\(before)]"]
        }
        let network = network(scheme, engine)
        #expect(try await network.send(HTTPRequest("GET", server.url("/good")), options()).status == 200)
        let first = "1 to Riddle nonce=1 after []"
        #expect(shown.all == ["none", first, "2 to Riddle nonce=2 after [X-Proof: \(first)]"])
        count.withLock { $0 = 0 }
        let response = try await network.send(HTTPRequest("GET", server.url("/bad")), options())
        #expect(response.status == 401 && response.body == Array("answer 3".utf8), "it gave up after the third")
        count.withLock { $0 = 0 }
        let files = try TestFolder(), path = files.path + "/riddle"
        let download = try await network.download(HTTPRequest("GET", server.url("/bad")), to: path, options())
        #expect(download.status == 401)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "answer 3", "its body is that of the result")
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

    /// Runs a host with a manager that proves the credential `own`, and a component that lends its context.
    private func with(
        _ manager: ManagerDefinition, _ values: [String: Secret] = [:], plugins: [PluginReference] = [],
        lanes: LaneRule = .fastest, _ body: (PluginHost, LendingCommunication.Context) async throws -> Void
    ) async throws {
        let key = UUID().uuidString
        var manifest = LendingPlugin.manifest(of: key)
        manifest.plugins = plugins
        manifest.managers["Signer"] = manager
        manifest.network.credentials["own"] = Credential(
            hosts: ["127.0.0.1"], .component("Signer", values: values), managers: ["LendingManager", "Signer"])
        try await PluginHost.running(
            manifest, [LendingPlugin.self, SigningPlugin.self], executors: [Engine.urlSession.executor()], lanes: lanes
        ) { host in
            try await body(host, LendingCommunication.context(key))
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
        let library = PluginReference(library: "FixturesInC")
        let authenticator = ManagerDefinition(className: "AuthenticatorInC")
        try await with(authenticator, ["key": Secret(Self.key)], plugins: [library]) { _, context in
            let response = try await context.http.send(request, context.begin(), options())
            #expect(response.status == 200)
        }
        try await with(authenticator, plugins: [library]) { _, context in
            let error = await error { try await context.http.send(request, context.begin(), options()) }
            #expect(error?.code == .networkSignIn)
            #expect(error?.message == "the authenticator `Signer` failed: the credential has no value `key`")
        }
    }

    @Test func `a cassette hides the bodies of what such a manager sends, which may be a sign-in`() async throws {
        let server = try TestServer { request, connection in
            let isSignIn = request.target == "/sessions"
            connection.answer(
                "200 OK", body: Array((isSignIn ? #"{"token": "planted", "pin": 471147114711}"# : "a book").utf8))
        }
        let files = try TestFolder(), path = files.path + "/cassette.json"
        func exchange(_ cassette: Cassette, signIn answer: String) async throws {
            let keys = [UUID().uuidString, UUID().uuidString]
            var manifest = LendingPlugin.manifest(of: keys[0])
            manifest.managers["Signer"] = ManagerDefinition(
                className: "BookSigner",
                communicationController: ComponentDefinition(
                    className: "LendingCommunication", configuration: ["key": .string(keys[1])]))
            manifest.network.credentials["own"] = Credential(hosts: ["127.0.0.1"], .component("Signer"))
            try await PluginHost.running(
                manifest, [LendingPlugin.self, SigningPlugin.self], executors: [Engine.urlSession.executor()]
            ) {
                $0.cassette = cassette
            } _: { _ in
                let lender = try LendingCommunication.context(keys[0]), own = try LendingCommunication.context(keys[1])
                let signIn = HTTPRequest("POST", server.url("/sessions"), body: .text("ann planted"))
                let signedIn = try await own.http.send(signIn, own.begin()).body
                #expect(String(decoding: signedIn, as: UTF8.self) == answer)
                let order = HTTPRequest("POST", server.url("/books"), body: .text("whale"))
                let book = try await lender.http.send(order, lender.begin()).body
                #expect(String(decoding: book, as: UTF8.self) == "a book")
            }
        }
        try await exchange(.recording(to: path), signIn: #"{"token": "planted", "pin": 471147114711}"#)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            !text.contains("planted") && !text.contains("471147114711") && !text.contains("ann")
                && text.contains("whale"), "\(text)")
        try await exchange(.replaying(path), signIn: #"{"pin":0,"token":"REDACTED"}"#)
    }
}
