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

/// Interceptors of exchanges: closures of a program, managers of plugins, and some in C.
@Suite(.timeLimit(.minutes(5)))
struct InterceptingTests {
    /// The SHA-256 of the text `whale`.
    static let whale = "a5d2ae286d0d9e45c0621a6fc7c18119940dd737baa8d794e6af357d2136a7a1"

    /// A server that answers with some fields of the request.
    private func server(_ names: String...) throws -> TestServer {
        try TestServer { request, connection in
            let text = names.map { request[$0] ?? "none" }.joined(separator: " ")
            connection.answer("200 OK", body: Array(text.utf8))
        }
    }

    private func text(_ network: HTTPPipeline, _ request: HTTPRequest) async throws -> String {
        String(decoding: try await network.send(request).body, as: UTF8.self)
    }

    private func failure(_ network: HTTPPipeline, _ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(request) }
    }

    private func adding(_ letter: String, hosts: Set<String> = []) -> HTTPInterceptor {
        HTTPInterceptor(name: letter, hosts: hosts) { request, next in
            var request = request
            request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + letter
            return try await next(request)
        }
    }

    /// An interceptor of attempts that adds a field.
    private func field(_ name: String, _ value: @escaping @Sendable (HTTPRequest) async throws -> String)
        -> HTTPInterceptor
    {
        HTTPInterceptor(.attempt, name: "signer") { request, next in
            var request = request
            request.headers.add(name, try await value(request))
            return try await next(request)
        }
    }

    // MARK: Programs

    @Test(arguments: Engine.allCases)
    func `interceptors of loads run in their order, each for its hosts`(engine: Engine) async throws {
        let server = try server("X-Way")
        let network = HTTPPipeline(
            [engine.executor()],
            interceptors: [adding("a"), adding("b", hosts: ["other.test"]), adding("c", hosts: ["127.0.0.1"])])
        let here = try await text(network, HTTPRequest("GET", server.url()))
        #expect(here == "ac")
        let elsewhere = try await text(network, HTTPRequest("GET", "http://LOCALHOST:\(server.port)/"))
        #expect(elsewhere == "a")
    }

    @Test(arguments: Engine.allCases)
    func `an interceptor of loads runs once, and one of attempts for each attempt and each redirect`(engine: Engine)
        async throws
    {
        let received = Mutex(0), seen = Recording<String>()
        let server = try TestServer { request, connection in
            let number = received.withLock { count in
                count += 1
                return count
            }
            seen.add("\(request["X-Request"] ?? "") \(request["X-Attempt"] ?? "")")
            switch number {
            case 1: connection.answer("503 Service Unavailable")
            case 2: connection.answer("302 Found", [("Location", "/there")])
            default: connection.answer("200 OK")
            }
        }
        let requests = Counted(), attempts = Counted()
        @Sendable func count(_ counted: Counted) -> String {
            counted.add(1)
            return "\(counted.value)"
        }
        let network = HTTPPipeline(
            [engine.executor()],
            interceptors: [
                HTTPInterceptor { request, next in
                    var request = request
                    request.headers["X-Request"] = count(requests)
                    return try await next(request)
                },
                field("X-Attempt") { _ in count(attempts) },
            ])
        var options = HTTPOptions()
        (options.redirects, options.retry) = (5, .immediate)
        #expect(try await network.send(HTTPRequest("GET", server.url()), options).status == 200)
        // A redirect has the fields that were set before the first attempt, and the interceptor adds its own again.
        #expect(seen.all == ["1 1", "1 2", "1 3"])
    }

    @Test func `one that throws fails the exchange, and nothing is sent`() async throws {
        struct Locked: ComponentError {
            var code: String { "key.locked" }
            var message: String { "the key is locked" }
        }
        let sent = Recording<String>()
        let executor = MemoryExecutor { request, _ in
            sent.add(request.url)
            return HTTPStreamedResponse(HTTPResponse(status: 200))
        }
        let interceptors = [
            HTTPInterceptor(name: "signer") { _, _ in throw Locked() },
            HTTPInterceptor(.attempt, name: "signer") { _, _ in throw Locked() },
        ]
        for interceptor in interceptors {
            let network = HTTPPipeline([executor], interceptors: [interceptor])
            let error = await failure(network, HTTPRequest("GET", "http://a:b@books.test/?key=1"))
            #expect(
                error?.description
                    == "http://books.test/: network.refused: the interceptor `signer` failed: the key is locked")
            #expect(error?.causes.first?.failure?.code == "key.locked" && error?.isConnectivity == false)
        }
        let own = HTTPPipeline([executor], interceptors: [HTTPInterceptor { _, _ in throw CancellationError() }])
        await #expect(throws: CancellationError.self) { try await own.send(HTTPRequest("GET", "http://books.test/")) }
        #expect(sent.all == [])
    }

    @Test func `one of attempts adds fields that do not vary the response, and changes nothing else`() async throws {
        let executor = MemoryExecutor { request, _ in
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("\(request.headers["X"] ?? "none")".utf8)))
        }
        func changing(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> HTTPPipeline {
            let interceptor = HTTPInterceptor(.attempt, name: "changer") { request, next in
                var request = request
                change(&request)
                return try await next(request)
            }
            return HTTPPipeline([executor], interceptors: [interceptor])
        }
        let request = HTTPRequest("GET", "http://books.test/", headers: ["Accept": "text/plain"])
        #expect(try await text(changing { $0.headers["X"] = "added" }, request) == "added")
        for (change, words) in [
            (
                { @Sendable in $0.url += "?q=1" },
                "it changes the method or the URL of an attempt; do so around the load"
            ),
            ({ @Sendable in $0.headers["Accept"] = "*/*" }, "it changes the field `Accept` of an attempt"),
            (
                { @Sendable in $0.headers.add("Accept", "*/*") },
                "it adds the field `Accept`, which the request already has"
            ),
            ({ @Sendable in $0.headers.add("Range", "bytes=1-") }, "it adds the field `Range` to an attempt"),
        ] as [(@Sendable (inout HTTPRequest) -> Void, String)] {
            let error = await failure(changing(change), request)
            #expect(error?.code == .networkRefused)
            #expect(error?.message.hasPrefix("the interceptor `changer`: \(words)") == true, "\(words)")
        }
    }

    @Test func `none sees a proof, a cookie, or the requests for a token`() async throws {
        let executor = MemoryExecutor { request, _ in
            let isSignIn = request.url.hasSuffix("/sessions")
            let answer = isSignIn ? #"{"token": "secret"}"# : request.headers["Authorization"] ?? "none"
            return HTTPStreamedResponse(
                HTTPResponse(status: 200, headers: ["Set-Cookie": "id=secret"], body: Array(answer.utf8)))
        }
        let seen = Recording<String>()
        func watching(_ place: HTTPInterceptor.Place) -> HTTPInterceptor {
            HTTPInterceptor(place) { request, next in
                let response = try await next(request)
                seen.add("\(request.url) \(request.headers.fields) \(response.headers.fields)")
                return response
            }
        }
        let signIn = TokenRequest("http://books.test/sessions", .json(["password": .text(Secret("secret"))]))
        let bearer = Credential(
            hosts: ["books.test"], .bearer(TokenSource(signIn: signIn, token: "/token")), hasCookies: true)
        let network = HTTPPipeline(
            [executor], credentials: Credentials(["own": bearer]), interceptors: [watching(.load), watching(.attempt)])
        var options = HTTPOptions()
        options.credential = "own"
        let response = try await network.send(HTTPRequest("GET", "http://books.test/"), options)
        #expect(String(decoding: response.body, as: UTF8.self) == "Bearer secret")
        #expect(seen.all.count == 2 && !seen.all.contains { $0.contains("secret") || $0.contains("sessions") })
    }

    @Test func `one that asks for the digest has it, of a body that can be sent again`() async throws {
        let server = try server("Signature")
        let signer = field("Signature") { try await $0.body.digestText() }
        let network = HTTPPipeline([Engine.urlSession.executor()], interceptors: [signer])
        let url = server.url()
        let empty = try await text(network, HTTPRequest("GET", url))
        let whole = try await text(network, HTTPRequest("POST", url, body: .text("whale")))
        #expect(empty == ContentDigest.sha256(of: []).hexadecimal && whole == Self.whale)
        let chunks = AsyncStream<[UInt8]> { $0.finish() }
        let memory = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) }
        let streaming = HTTPPipeline([memory], interceptors: [signer])
        let once = await failure(streaming, HTTPRequest("POST", url, body: .stream(chunks)))
        #expect(once?.code == .networkBody && once?.message.contains("only once") == true)
        let large = await failure(
            streaming,
            HTTPRequest(
                "POST", url,
                body: .replayable { AsyncStream<[UInt8]>(unfolding: { .init(repeating: 1, count: 1 << 20) }) }
            ))
        #expect(large?.code == .networkTooLarge)
    }

    // MARK: Plugins

    @Test(arguments: Engine.allCases, [LaneRule.fastest, .encoded])
    func `managers of a plugin intercept what components and the host send`(engine: Engine, lanes: LaneRule)
        async throws
    {
        let server = try server("X-Way", "Signature")
        func script(_ letter: String) -> ScriptedInterceptor.Script {
            ScriptedInterceptor.Script(interests: [.requests, .attempts, .digest]) { head, _ in
                var head = head
                head.fields["X-Way"] = (head.fields["X-Way"] ?? "") + letter
                return head
            } attempt: { head, _ in
                letter == "b" ? [["Signature", "\(head.digest ?? "") \(head.fields["X-Way"] ?? "")"]] : []
            }
        }
        try await ExtendedHost.with(
            [script("a"), script("b")], hosts: ["127.0.0.1"], engine: engine.executor(), lanes: lanes
        ) { extended in
            let request = HTTPRequest("POST", server.url(), body: .text("whale"))
            let sent = try await extended.text(request)
            #expect(sent == "ab \(Self.whale) ab")
            let own = try await extended.host.network.send(request).body
            #expect(String(decoding: own, as: UTF8.self) == "ab \(Self.whale) ab")
            let elsewhere = try await extended.text(HTTPRequest("GET", "http://localhost:\(server.port)/"))
            #expect(elsewhere == "none none")
        }
    }

    @Test func `what an interceptor sends itself passes no interceptor, and its call is passed on`() async throws {
        let server = try server("X-Token"), call = Mutex<Call?>(nil)
        let context = Mutex<LendingCommunication.Context?>(nil)
        let script = ScriptedInterceptor.Script { head, frame in
            call.withLock { $0 = frame }
            var head = head
            if let own = context.withLock({ $0 }) {
                // As one does that fetches a token: it would wait for itself if it passed the interceptor.
                let token = try await own.http.send(HTTPRequest("GET", server.url("/token")), frame).body
                head.fields["X-Token"] = "token of \(String(decoding: token, as: UTF8.self))"
            }
            return head
        }
        try await ExtendedHost.with([script]) { extended in
            context.withLock { $0 = extended.own[0] }
            let trace = extended.context.begin()
            let response = try await extended.context.http.send(HTTPRequest("GET", server.url()), trace)
            #expect(String(decoding: response.body, as: UTF8.self) == "token of none")
            #expect(call.withLock { $0?.trace?.id } == trace.trace?.id)
        }
    }

    @Test func `an interceptor that signs and one that observes in C`() async throws {
        let server = try server("Signature")
        let log = TestLog()
        let manifest = Manifest(
            plugins: [PluginReference(library: "FixturesInC")],
            managers: [
                "Signer": ManagerDefinition(className: "Signer"),
                "ObserverInC": ManagerDefinition(className: "ObserverInC"),
            ], network: NetworkSettings(interceptors: ["Signer", "ObserverInC"].map { NetworkInterceptor($0) }))
        try await PluginHost.running(manifest, executors: [Engine.urlSession.executor()]) {
            $0.log = log
        } _: { host in
            let response = try await host.network.send(HTTPRequest("POST", server.url("/?key=1"), body: .text("whale")))
            #expect(String(decoding: response.body, as: UTF8.self) == Self.whale.prefix(8))
            let end = try await log.first { $0.source == "ObserverInC" && $0.message.contains(#""stage":"end""#) }
            #expect(end.message.contains(#""status":200"#) && !end.message.contains("key=1"))
            let told = log.messages(from: "ObserverInC").joined()
            for stage in ["start", "attempt", "head"] { #expect(told.contains(#""stage":"\#(stage)""#)) }
        }
    }
}
