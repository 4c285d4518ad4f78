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

    // MARK: Answers that are no tokens

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
}
