import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneExchange

/// Bearer tokens in a program's pipeline: asked for once, refreshed, and given up.
@Suite(.timeLimit(.minutes(5)))
struct BearerTests {
    private static var options: HTTPOptions {
        var options = HTTPOptions()
        options.credential = "library"
        return options
    }

    /// The options of requests that share no exchange.
    private static var apart: HTTPOptions {
        var options = options
        options.equalRequests = .allow
        return options
    }

    private func source(_ server: TokenServer, refreshes: Bool = false, expires: String? = nil) -> TokenSource {
        TokenSource(
            signIn: TokenRequest(server.url("/token/sign-in"), .json(["reader": "ann", "password": "white"])),
            refresh: refreshes
                ? TokenRequest(server.url("/token/refresh"), .form(["with": .value("refreshToken")])) : nil,
            token: "/a/token", expires: expires, refreshToken: "/refresh")
    }

    private func network(
        _ engine: Engine, _ server: TokenServer, _ source: TokenSource? = nil,
        date: @escaping @Sendable () -> Date = { Date() }
    ) -> HTTPPipeline {
        let vault = CredentialVault(date: date)
        return HTTPPipeline(
            [engine.executor()],
            credentials: vault.credentials([
                "library": Credential(hosts: [server.host], .bearer(source ?? self.source(server)))
            ]))
    }

    @Test(arguments: Engine.allCases)
    func `the first request signs in, and those after it have the token`(engine: Engine) async throws {
        let server = try TokenServer(), network = network(engine, server)
        for _ in 1...3 {
            #expect(try await network.send(HTTPRequest("GET", server.url("/book")), Self.options).status == 200)
        }
        #expect(server.seen.asked == [#"/token/sign-in {"password":"white","reader":"ann"}"#])
        #expect(server.seen.shown == ["Bearer token-1", "Bearer token-1", "Bearer token-1"])
    }

    @Test(arguments: Engine.allCases)
    func `a hundred requests that meet a refused token at once cause one refresh, and none fails`(engine: Engine)
        async throws
    {
        let count = 100, allRefused = ThreadLatch()
        let server = try TokenServer { number in
            if number == 2 { allRefused.wait() }
            return TokenServer.plainly(number)
        } refused: { refused in
            if refused == count { allRefused.open() }
        }
        let network = network(engine, server, source(server, refreshes: true))
        let request = HTTPRequest("GET", server.url("/book"))
        _ = try await network.send(request, Self.options)
        server.revoke()
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<count { group.addTask { try? await network.send(request, Self.apart).status } }
            return await group.reduce(into: [Int?: Int]()) { counts, status in counts[status, default: 0] += 1 }
        }
        #expect(statuses == [200: count])
        #expect(server.seen.refused == count && server.seen.served == count + 1)
        #expect(server.seen.asked.count == 2 && server.seen.asked.last == "/token/refresh with=refresh-1")
        #expect(server.seen.askedWith == [nil, nil], "a request for a token has no token")
    }

    @Test(arguments: Engine.allCases)
    func `a refresh is not authenticated itself, and one that is refused ends the call`(engine: Engine) async throws {
        let server = try TokenServer { number in
            number == 1
                ? TokenServer.plainly(number)
                : ("401 Unauthorized", [("WWW-Authenticate", #"Bearer error="invalid_token""#)], "")
        }
        let network = network(engine, server, source(server, refreshes: true))
        let request = HTTPRequest("GET", server.url("/book"))
        _ = try await network.send(request, Self.options)
        server.revoke()
        for round in 1...2 {
            let error = await #expect(throws: BackplaneError.self) { try await network.send(request, Self.options) }
            #expect(error?.code == .networkSignIn && error?.httpStatus == 401, "round \(round)")
        }
        // The refresh token is given up once it was refused, and the sign-in is asked for alone.
        #expect(
            server.seen.asked.map { $0.prefix(14) } == [
                "/token/sign-in", "/token/refresh", "/token/sign-in", "/token/sign-in",
            ])
        #expect(server.seen.askedWith.allSatisfy { $0 == nil })
        #expect(server.seen.shown == ["Bearer token-1", "Bearer token-1", "Bearer token-1"])
    }

    @Test func `a failed refresh fails all who wait for it, and the next request asks again`() async throws {
        let isDown = Mutex(false), waiting = ThreadLatch(), count = 20
        let server = try TokenServer { number in
            guard isDown.withLock({ $0 }) else { return TokenServer.plainly(number) }
            waiting.wait()
            return ("503 Service Unavailable", [], "later")
        } refused: { refused in
            if refused == count { waiting.open() }
        }
        let network = network(.urlSession, server), request = HTTPRequest("GET", server.url("/book"))
        _ = try await network.send(request, Self.options)
        server.revoke()
        isDown.withLock { $0 = true }
        let errors = await withTaskGroup(of: BackplaneError?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do { _ = try await network.send(request, Self.apart) } catch { return error as? BackplaneError }
                    return nil
                }
            }
            return await group.reduce(into: [BackplaneError?]()) { $0.append($1) }
        }
        #expect(errors.allSatisfy { $0?.code == .networkSignIn && $0?.httpStatus == 503 }, "\(errors)")
        // One that is refused only after that failure asks again.
        #expect((2..<count).contains(server.seen.issued), "they asked together")
        isDown.withLock { $0 = false }
        server.state.withLock { $0.good = nil }
        #expect(try await network.send(request, Self.options).status == 200)
    }

    @Test(arguments: Engine.allCases)
    func `a refused request is sent again once, however often it is refused`(engine: Engine) async throws {
        let server = try TokenServer(), network = network(engine, server)
        server.refuseAll()
        let response = try await network.send(HTTPRequest("GET", server.url("/book")), Self.options)
        #expect(response.status == 401)
        #expect(server.seen.shown == ["Bearer token-1", "Bearer token-2"] && server.seen.issued == 2)
    }

    @Test func `a refresh that is refused is followed by a sign-in`() async throws {
        let server = try TokenServer { number in
            number == 2 ? ("400 Bad Request", [], "{}") : TokenServer.plainly(number)
        }
        let network = network(.urlSession, server, source(server, refreshes: true))
        let request = HTTPRequest("GET", server.url("/book"))
        _ = try await network.send(request, Self.options)
        server.state.withLock { $0.good = "token-3" }
        #expect(try await network.send(request, Self.options).status == 200)
        #expect(server.seen.asked.map { $0.prefix(14) } == ["/token/sign-in", "/token/refresh", "/token/sign-in"])
    }

    @Test func `an expiry that is known is refreshed before it passes`() async throws {
        let server = try TokenServer { number in
            ("200 OK", [], #"{"a": {"token": "token-\#(number)", "expires": 1000}}"#)
        }
        let now = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let network = network(.urlSession, server, source(server, expires: "/a/expires")) { now.withLock { $0 } }
        let request = HTTPRequest("GET", server.url("/book"))
        for seconds in [0.0, 900, 1_050, 1_900] {
            now.withLock { $0 = Date(timeIntervalSince1970: 1_000_000 + seconds) }
            _ = try await network.send(request, Self.options)
        }
        #expect(server.seen.shown == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2"])
        #expect(server.seen.refused == 0)
    }

    @Test(arguments: [
        ("<html>secret-in-page</html>", "the response is not JSON"), ("", "the response is empty"),
        (#"{"token": "t"}"#, "the response has no string at `/a/token`"),
        (#"{"a": {"token": 17}}"#, "has no string at"),
        (#"{"a": {"token": ""}}"#, "the token at `/a/token` is empty"),
        (#"{"a": {"token": "a\r\nX-Evil: b"}}"#, "or not of visible ASCII"),
        (#"{"a": {"token": "\#(String(repeating: "x", count: 20_000))"}}"#, "longer than 16 KB"),
        ("[" + String(repeating: "[", count: 100), "the response is not JSON"),
    ])
    func `an answer without a usable token fails the sign-in, and is not shown`(body: String, message: String)
        async throws
    {
        let server = try TokenServer { _ in ("200 OK", [], body) }
        let error = await #expect(throws: BackplaneError.self) {
            try await network(.urlSession, server).send(HTTPRequest("GET", server.url("/book")), Self.options)
        }
        #expect(error?.code == .networkSignIn && error?.message.contains(message) == true, "\(error as Any)")
        #expect(error?.location == server.url("/token/sign-in"))
        #expect(error?.expandedDescription.contains("secret-in-page") == false)
        #expect(server.seen.shown.isEmpty, "nothing was sent without a token")
    }

    @Test func `a pointer leads through arrays and escapes`() throws {
        let response = HTTPResponse(status: 200, body: Array(#"{"a/b": [{"~": "found"}]}"#.utf8))
        let request = TokenRequest("http://a.test/")
        func read(_ pointer: String) throws -> String {
            try BearerToken(
                response, to: HTTPRequest("POST", request.url), TokenSource(signIn: request, token: pointer),
                now: Date()
            ).value.revealed
        }
        #expect(try read("/a~1b/0/~0") == "found")
        for pointer in ["/a~1b/1/~0", "/a~1b/-/~0", "/a/b", "/a~1b/0/~0/x"] {
            #expect(throws: BackplaneError.self) { _ = try read(pointer) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a token is where its host expects it, and no observer sees it`(engine: Engine) async throws {
        let seen = Recording<ReceivedRequest>(), events = Recording<String>()
        let server = try TestServer { request, connection in
            seen.add(request)
            connection.answer("200 OK")
        }
        var source = TokenSource(secret: "whale&1")
        let host = "127.0.0.1:\(server.port)"
        for place in [TokenPlace.query("auth"), .scheme("Key")] {
            source.places = [host: place]
            let network = HTTPPipeline(
                [engine.executor()], credentials: Credentials(["library": Credential(hosts: [host], .bearer(source))]),
                interceptors: [
                    HTTPInterceptor(.attempt) { request, next in
                        events.add(request.url + (request.headers["Authorization"] ?? ""))
                        return try await next(request)
                    }
                ], observers: [{ events.add($0.url) }])
            _ = try await network.send(HTTPRequest("GET", server.url("/book?auth=old&page=2")), Self.options)
        }
        #expect(seen.all.map(\.target) == ["/book?page=2&auth=whale%261", "/book?auth=old&page=2"])
        #expect(seen.all.map { $0["Authorization"] } == [nil, "Key whale&1"])
        #expect(!events.all.isEmpty && !events.all.contains { $0.contains("whale") })
    }

    @Test(arguments: Engine.allCases)
    func `a token that a redirect repeats reaches its target, and nothing else sees it`(engine: Engine) async throws {
        let seen = Recording<String>(), events = Recording<String>()
        let stranger = try TestServer { request, connection in
            seen.add(request.target)
            connection.answer("200 OK")
        }
        let server = try TestServer { request, connection in
            let query = request.target.drop { $0 != "?" }
            connection.answer("307 Temporary Redirect", [("Location", stranger.url("/elsewhere\(query)&ns=books"))])
        }
        var source = TokenSource(secret: "whale&1")
        let host = "127.0.0.1:\(server.port)"
        source.places = [host: .query("auth")]
        let network = HTTPPipeline(
            [engine.executor()], credentials: Credentials(["library": Credential(hosts: [host], .bearer(source))]),
            interceptors: [
                HTTPInterceptor(.attempt) { request, next in
                    let response = try await next(request)
                    events.add(request.url + (response.headers["Location"] ?? ""))
                    return response
                }
            ], observers: [{ events.add($0.url) }])
        var options = Self.options
        let redirect = try await network.send(HTTPRequest("GET", server.url("/book")), options)
        #expect(redirect.headers["Location"] == stranger.url("/elsewhere?ns=books"))
        options.redirects = 5
        let response = try await network.send(HTTPRequest("GET", server.url("/book")), options)
        #expect(response.status == 200 && response.url == stranger.url("/elsewhere?ns=books"))
        #expect(seen.all == ["/elsewhere?ns=books&auth=whale%261"])
        #expect(!events.all.isEmpty && !events.all.contains { $0.contains("whale") })
    }

    @Test(arguments: Engine.allCases)
    func `a refresh has pointers of its own, and a refusal the server's word but no secret`(engine: Engine) async throws
    {
        let answers = [
            (200, #"{"a": {"token": "token-1"}, "refresh": "refresh-1"}"#),
            (200, #"{"id": "token-2", "next": "refresh-2"}"#),
            (400, #"{"error": {"message": "EXPIRED"}}"#),
            (400, #"{"error": "invalid_grant", "error_description": "refresh-3 is used up"}"#),
            (403, #"{"error": {"message": "Consumer 'api_key:ahab/1' has been suspended."}}"#),
        ]
        let server = try TokenServer { number in
            let (status, body) = answers[min(number, 5) - 1]
            return ("\(status) Answer", [], body)
        }
        var source = source(server, refreshes: true)
        source.refresh?.token = "/id"
        source.refresh?.refreshToken = "/next"
        source.signIn = TokenRequest(server.url("/token/sign-in?key=ahab%2F1"), .json(["reader": .value("reader")]))
        let network = network(engine, server, source)
        try await network.signIn("library", as: "ann", with: ["reader": "ann"])
        var options = Self.options
        options.account = "ann"
        let request = HTTPRequest("GET", server.url("/book"))
        server.state.withLock { $0.good = "token-2" }
        #expect(try await network.send(request, options).status == 200)
        #expect(server.seen.asked.last == "/token/refresh with=refresh-1")
        server.state.withLock { $0.good = "another" }
        let refused = await #expect(throws: BackplaneError.self) { try await network.send(request, options) }
        #expect(refused?.message.hasSuffix("answered with status 400 and said `EXPIRED`") == true)
        let echo = await #expect(throws: BackplaneError.self) {
            try await network.signIn("library", as: "bob", with: ["reader": "refresh-3"])
        }
        #expect(echo?.message.hasSuffix("answered with status 400") == true)
        let key = await #expect(throws: BackplaneError.self) {
            try await network.signIn("library", as: "eve", with: ["reader": "eve"])
        }
        #expect(key?.message.hasSuffix("answered with status 403") == true)
    }
}

/// The credential of a program that has one, in one line, and tokens from a function.
@Suite(.timeLimit(.minutes(1)))
struct SingleCredentialTests {
    struct SignInFailed: Error {}

    /// An executor that answers with the `Authorization` of requests, and refuses others with a challenge.
    private static let echo = MemoryExecutor { request, _ in
        let shown = request.headers["Authorization"]
        guard shown != nil || request.url.contains("other") else {
            return .init(
                HTTPResponse(
                    status: 401,
                    headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", algorithm=MD5, qop="auth""#]))
        }
        return .init(HTTPResponse(status: 200, body: Array((shown ?? "none").utf8)))
    }
    private static let basic = "Basic \(Data("ann:white".utf8).base64EncodedString())"

    private func load(_ path: String, _ http: HTTPClient) async throws -> String {
        var endpoint = Endpoint<String>("GET", path)
        endpoint.allowsFullURL = true
        return try await http.relative(to: "https://books.example.org").load(endpoint)
    }

    @Test(arguments: ["books.example.org", "books.example.org:443", "https://books.example.org/v2"])
    func `requests to the credential's host have it, and others do not`(host: String) async throws {
        let http = HTTPClient([Self.echo], credentials: .basic("ann", "white", for: host, "b.example.org"))
        #expect(try await load("shelf", http) == Self.basic)
        #expect(try await load("https://b.example.org/", http) == Self.basic)
        #expect(try await load("https://other.example.org/", http) == "none")
        let sent = try await http.send(HTTPRequest("GET", "https://books.example.org/"), Call())
        #expect(sent.body == Array(Self.basic.utf8), "requests have it, too, and not only endpoints")
        let own = HTTPRequest("GET", "https://books.example.org/", headers: ["Authorization": "own"])
        #expect(try await http.send(own, Call()).body == Array("own".utf8))
        let user = HTTPRequest("GET", "https://bob:blue@books.example.org/other")
        #expect(try await http.send(user, Call()).body != Array(Self.basic.utf8), "a user in the URL is another one")
    }

    @Test func `it is chosen for the request that interceptors pass on`() async throws {
        let mirror = HTTPInterceptor { request, next in
            var mirrored = request
            mirrored.url = mirrored.url.replacing("books.example.org", with: "other.example.org")
            return try await next(mirrored)
        }
        let http = HTTPClient(
            HTTPPipeline(
                [Self.echo], credentials: .basic("ann", "white", for: "books.example.org"), interceptors: [mirror]))
        #expect(try await load("shelf", http) == "none")
    }

    @Test func `a digest and a fixed token are as short`() async throws {
        let digest = HTTPClient([Self.echo], credentials: .digest("ann", "white", for: "books.example.org"))
        #expect(try await load("shelf", digest).hasPrefix(#"Digest username="ann""#))
        let bearer = HTTPClient([Self.echo], credentials: .bearer("t", for: "books.example.org"))
        #expect(try await load("shelf", bearer) == "Bearer t")
    }

    @Test func `a function for tokens is called once for all that wait, and again once a token is refused`()
        async throws
    {
        let server = try TokenServer(), gate = TestGate(), calls = Recording<Int>()
        server.state.withLock { $0.good = "first" }
        let http = HTTPClient(
            [Engine.urlSession.executor()],
            credentials: .bearer(for: server.host) {
                calls.add(calls.all.count + 1)
                try await gate.pass()
                return calls.all.count == 1 ? "first" : "second"
            })
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { try await http.send(HTTPRequest("GET", server.url("/book")), Call()).status }
            }
            try await gate.arrivals()
            gate.open()
            for try await status in group { #expect(status == 200) }
        }
        #expect(calls.all == [1])
        server.state.withLock { $0.good = "second" }
        #expect(try await http.send(HTTPRequest("GET", server.url("/book")), Call()).status == 200)
        server.refuseAll()
        #expect(try await http.send(HTTPRequest("GET", server.url("/book")), Call()).status == 401)
        #expect(calls.all == [1, 2, 3], "a refused request is sent again once")
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "t", count: 20_000)])
    func `a function that returns no token fails the request`(token: String) async throws {
        let http = HTTPClient([Self.echo], credentials: .bearer(for: "books.example.org") { token })
        let error = await #expect(throws: BackplaneError.self) { try await load("shelf", http) }
        #expect(error?.code == .networkSignIn)
        #expect(error?.message.contains("function for tokens") == true)
    }

    @Test func `a function that throws an error is asked again by the next request`() async throws {
        let calls = Recording<Bool>()
        let http = HTTPClient(
            [Self.echo],
            credentials: .bearer(for: "books.example.org") {
                calls.add(true)
                if calls.all.count == 1 { throw SignInFailed() }
                return "t"
            })
        let error = await #expect(throws: BackplaneError.self) { try await load("shelf", http) }
        #expect(error?.code == .networkSignIn)
        #expect(error?.causes.first?.message.contains("SignInFailed") == true)
        #expect(try await load("shelf", http) == "Bearer t")
    }

    @Test func `a function that does not return fails the request after a minute`() async throws {
        let clock = TestClock()
        let http = HTTPClient(
            HTTPPipeline(
                [Self.echo], retries: Retries(clock: clock),
                credentials: .bearer(for: "books.example.org") {
                    try await TestGate().pass()
                    return "t"
                }))
        var endpoint = Endpoint<String>("GET", "https://books.example.org/")
        (endpoint.allowsFullURL, endpoint.timeout) = (true, nil)
        let loading = Task { [endpoint] in try await http.load(endpoint) }
        try await clock.expire(.seconds(60))
        let error = await #expect(throws: BackplaneError.self) { try await loading.value }
        #expect(error?.code == .networkSignIn)
    }

    @Test func `a request has its token even if the token cannot be stored`() async throws {
        let server = try TokenServer(), folder = try TestFolder(), path = folder.path + "/tokens"
        try Data().write(to: URL(filePath: path))  // where a folder is expected
        let source = TokenSource(
            signIn: TokenRequest(server.url("/token"), .json(["reader": "ann"])), token: "/a/token", isKept: true)
        let credentials = Credentials(["library": Credential(hosts: [server.host], .bearer(source))], keptIn: path)
        var options = HTTPOptions()
        options.credential = "library"
        let network = HTTPPipeline([Engine.urlSession.executor()], credentials: credentials)
        #expect(try await network.send(HTTPRequest("GET", server.url("/book")), options).status == 200)
    }
}

/// A server on loopback that issues tokens, and answers requests that have the current token.
final class TokenServer: Sendable {
    struct State: Sendable {
        var issued = 0
        /// The requests for a token: their paths and contents.
        var asked: [String] = []
        /// The `Authorization` of each request for a token, in order.
        var askedWith: [String?] = []
        /// The `Authorization` of each request for the resource, in order.
        var shown: [String] = []
        var refused = 0, served = 0
        /// The token that is good; `nil` means the last one that was issued.
        var good: String?
    }
    typealias Issue = @Sendable (_ number: Int) -> (status: String, fields: [(String, String)], body: String)
    let state = Mutex(State())
    private let server: Mutex<TestServer?> = Mutex(nil)

    var port: UInt16 { server.withLock { $0?.port ?? 0 } }
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
    var host: String { "127.0.0.1:\(port)" }
    var seen: State { state.withLock { $0 } }

    /// - Parameters:
    ///   - issue: Answers a request for a token; it may block.
    ///   - refused: Called after a request was refused, with the number of refusals.
    init(
        issue: @escaping Issue = TokenServer.plainly, refused: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let made = try TestServer { [weak self] request, connection in
            guard let self else { return connection.close() }
            if request.target.hasPrefix("/token") {
                let number = state.withLock { state in
                    state.asked.append("\(request.target) \(String(decoding: request.body, as: UTF8.self))")
                    state.askedWith.append(request["Authorization"])
                    state.issued += 1
                    return state.issued
                }
                let answer = issue(number)
                return connection.answer(answer.status, answer.fields, body: Array(answer.body.utf8))
            }
            let shown = request["Authorization"] ?? "nothing"
            let (isGood, count) = state.withLock { state in
                state.shown.append(shown)
                let isGood = shown == "Bearer \(state.good ?? "token-\(state.issued)")"
                if isGood { state.served += 1 } else { state.refused += 1 }
                return (isGood, state.refused)
            }
            if isGood { return connection.answer("200 OK", body: Array("a book".utf8)) }
            connection.answer("401 Unauthorized", [("WWW-Authenticate", #"Bearer error="invalid_token""#)])
            refused(count)
        }
        server.withLock { $0 = made }
    }

    static let plainly: Issue = { number in
        ("200 OK", [], #"{"a": {"token": "token-\#(number)"}, "refresh": "refresh-\#(number)"}"#)
    }

    /// Refuses every token but the next one that is issued.
    func revoke() { state.withLock { $0.good = "token-\($0.issued + 1)" } }

    /// Refuses every token.
    func refuseAll() { state.withLock { $0.good = "none" } }

    func stop() { server.withLock { $0 = nil } }
}

/// A latch that a thread of a server waits for.
final class ThreadLatch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits; four minutes at the most, so that a test that fails ends.
    func wait() {
        _ = semaphore.wait(timeout: .now() + 240)
        semaphore.signal()
    }

    /// Waits on a thread of its own, so that none of Swift's pool is occupied.
    func opened() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}
