import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

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
