import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Interceptors around loads: decorating, measuring, refusing, and answering without the network.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorTests {
    @Test(arguments: ClientKind.all)
    func `those of the client are outside those of the endpoint, the first outermost`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array(($0["X-Way"] ?? "").utf8)) }
        let steps = Recording<String>()
        func named(_ name: String) -> HTTPInterceptor {
            HTTPInterceptor { request, next in
                var request = request
                request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + name
                let response = try await next(request)
                steps.add("\(name) \(response.status)")
                return response
            }
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url()), endpoint = Endpoint<String>("GET", "")
            http.defaults.interceptors = [named("a"), named("b")]
            endpoint.interceptors = [named("c"), named("d")]
            #expect(try await http.load(endpoint, call) == "abcd")
        }
        #expect(steps.all == ["d 200", "c 200", "b 200", "a 200"])
    }

    @Test(arguments: ClientKind.all)
    func `one that answers itself is validated and decoded like the network, also into a file`(
        kind: ClientKind
    ) async throws {
        let files = try TestFolder(), folder = URL(filePath: files.path)
        try await kind.lend { http, call async throws in
            var http = http.relative(to: "http://nobody.invalid")
            http.defaults.interceptors = [
                HTTPInterceptor { request, _ in
                    let status = request.url.hasSuffix("books") ? 200 : 404
                    return HTTPStreamedResponse(HTTPResponse(status: status, body: Array("[1,2]".utf8)))
                }
            ]
            #expect(try await http.load(Endpoint<[Int]>("GET", "books"), call) == [1, 2])
            let error = await error { try await http.load(Endpoint<[Int]>("GET", "other"), call) }
            #expect(error?.httpStatus == 404)
            let name = kind.isInPlugin ? "numbers" : folder.path + "/numbers"
            if kind.isInPlugin { return }  // the component's folder is created by the host with its first download
            let file = try await http.load(Endpoint<DownloadedFile>("GET", "books", to: name), call)
            #expect(file.size == 5)
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "[1,2]")
        }
    }

    @Test(arguments: ClientKind.all)
    func `retries and redirects are inside, and a second call of the rest is a second exchange`(
        kind: ClientKind
    ) async throws {
        let received = Recording<String>()
        let server = try TestServer { request, connection in
            received.add(request.target)
            switch received.all.count {
            case 1: connection.answer("503 Unavailable")
            case 2: connection.answer("302 Found", [("Location", "/found")])
            default: connection.answer("200 OK", body: Array("whale".utf8))
            }
        }
        let count = Recording<Int>()
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("GET", "start")
            endpoint.retry = .immediate
            endpoint.interceptors = [
                HTTPInterceptor { request, next in
                    count.add(try await next(request).timings.attempts)
                    return try await next(request)
                }
            ]
            #expect(try await http.relative(to: server.url()).load(endpoint, call) == "whale")
        }
        #expect(received.all == ["/start", "/start", "/found", "/start"])
        #expect(count.all == [2])
    }

    @Test(arguments: ClientKind.all)
    func `one of attempts runs for each, for its hosts, and not in a plugin`(kind: ClientKind) async throws {
        let received = Recording<String>()
        let server = try TestServer { request, connection in
            received.add("\(request["X-Attempt"] ?? "none") \(request["X-Other"] ?? "none")")
            connection.answer(received.all.count == 1 ? "503 Unavailable" : "200 OK")
        }
        let count = Counted()
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<Nothing>("GET", "start")
            endpoint.retry = .immediate
            endpoint.interceptors = [
                HTTPInterceptor(.attempt) { request, next in
                    count.add(1)
                    var request = request
                    request.headers["X-Attempt"] = "\(count.value)"
                    return try await next(request)
                },
                HTTPInterceptor(.attempt, hosts: ["books.test"]) { request, next in
                    var request = request
                    request.headers["X-Other"] = "seen"
                    return try await next(request)
                },
            ]
            let http = http.relative(to: server.url())
            guard kind.isInPlugin else {
                _ = try await http.load(endpoint, call)
                #expect(received.all == ["1 none", "2 none"])
                return
            }
            let refused = endpoint
            let error = await error { try await http.load(refused, call) }
            #expect(error?.code == .networkUnsupported && received.all.isEmpty)
        }
    }
}

extension RetryPolicy {
    /// The default rules without a delay worth mentioning.
    static var immediate: RetryPolicy {
        var policy = RetryPolicy()
        policy.base = .zero
        return policy
    }
}

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

    @Test(arguments: Engine.allCases, [LaneRule.fastest, .encoded])
    func `managers of a plugin intercept what components and the host send`(engine: Engine, lanes: LaneRule)
        async throws
    {
        let server = try server("X-Way", "Signature")
        func script(_ letter: String) -> ScriptedInterceptor.Script {
            ScriptedInterceptor.Script(interests: [.requests, .attempts, .digest]) { head, _ in
                var head = head
                head.headers["X-Way"] = (head.headers["X-Way"] ?? "") + letter
                return head
            } attempt: { head, _ in
                letter == "b" ? ["Signature": "\(head.digest ?? "") \(head.headers["X-Way"] ?? "")"] : [:]
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
                head.headers["X-Token"] = "token of \(String(decoding: token, as: UTF8.self))"
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

/// Exchanges whose interceptor's plugin is swapped meanwhile.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorSwapTests {
    private static func script(_ edition: String, _ gate: TestGate) -> ScriptedInterceptor.Script {
        ScriptedInterceptor.Script { head, _ in
            try await gate.pass()
            var head = head
            head.headers["X-Edition"] = edition
            return head
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `none of a hundred requests fails while the plugin of their interceptor is swapped`(lanes: LaneRule)
        async throws
    {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["X-Edition"] ?? "none").utf8))
        }
        let gate = TestGate(), half = 50
        try await ExtendedHost.with([Self.script("1", gate)], lanes: lanes) { extended in
            let request = HTTPRequest("GET", server.url()), coordinator = extended.host.coordinator
            ScriptedInterceptor.scripts.withLock { $0[extended.keys[0]] = Self.script("2", TestGate(isOpen: true)) }
            let later = LinkedPlugin(id: ExtendingPlugin.id, version: "2.0.0") { ExtendingPlugin.register(in: &$0) }
            let editions = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<half { group.addTask { try await extended.text(request) } }
                try await gate.arrivals(half)
                let swap = Task {
                    try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
                        try await coordinator.swap(
                            linked: [later], ChangeOptions(drain: .upTo(.seconds(60), then: .fail)))
                    }
                }
                for _ in 0..<half { group.addTask { try await extended.text(request) } }
                gate.open()
                let outcome = try await swap.value.outcome
                #expect(outcome == .changed)
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(editions.values.reduce(0, +) == 2 * half && Set(editions.keys).isSubset(of: ["1", "2"]))
            #expect(editions["1", default: 0] >= half, "those that had begun end on the code that they began on")
            let after = try await extended.text(request)
            #expect(after == "2")
        }
    }
}
