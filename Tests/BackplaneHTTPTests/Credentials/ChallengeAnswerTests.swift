import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// Basic and Digest over sockets, and where a credential goes.
@Suite(.timeLimit(.minutes(5)))
struct ChallengeAnswerTests {
    private static let login = Login(user: "ann", password: "white whale")
    private static let basic = "Basic " + Data("ann:white whale".utf8).base64EncodedString()

    private static var options: HTTPOptions {
        var options = HTTPOptions()
        options.credential = "library"
        return options
    }

    private func network(_ engine: Engine, _ scheme: Credential.Scheme, hosts: [String] = ["127.0.0.1"]) -> HTTPPipeline
    {
        HTTPPipeline(
            [engine.executor()], credentials: Credentials(["library": Credential(hosts: hosts, scheme)]))
    }

    /// A server that answers each request with what a function returns, and keeps the `Authorization` of each.
    private final class Server: Sendable {
        typealias Answer = (status: String, fields: [(String, String)])
        private let made: TestServer
        private let all = Mutex<[String?]>([])
        var shown: [String?] { all.withLock { $0 } }
        var host: String { "127.0.0.1:\(made.port)" }

        init(_ answer: @escaping @Sendable (ReceivedRequest, Int) -> Answer) throws {
            let box = Mutex<@Sendable (String?) -> Int>({ _ in 0 })
            made = try TestServer { request, connection in
                let number = box.withLock { $0 }(request["Authorization"])
                let (status, fields) = answer(request, number)
                connection.answer(status, fields, body: Array("what is there".utf8))
            }
            box.withLock {
                $0 = { [weak self] field in
                    self?.all.withLock { all in
                        all.append(field)
                        return all.count
                    } ?? 0
                }
            }
        }

        func url(_ path: String = "/") -> String { made.url(path) }
    }

    // MARK: Basic

    @Test(arguments: Engine.allCases)
    func `Basic is sent at once, or as the answer to a challenge and then at once`(engine: Engine) async throws {
        let server = try Server { request, _ in
            request["Authorization"] == Self.basic
                ? ("200 OK", [])
                : ("401 Unauthorized", [("WWW-Authenticate", #"Digest realm=r, nonce=n, Basic realm="é\"""#)])
        }
        let request = HTTPRequest("GET", server.url())
        let preemptive = network(engine, .basic(Self.login))
        #expect(try await preemptive.send(request, Self.options).status == 200)
        #expect(server.shown == [Self.basic])
        let asked = network(engine, .basic(Self.login, isPreemptive: false))
        for _ in 1...2 { #expect(try await asked.send(request, Self.options).status == 200) }
        #expect(server.shown == [Self.basic, nil, Self.basic, Self.basic])
    }

    @Test(arguments: Engine.allCases)
    func `a wrong password is the server's to refuse, once`(engine: Engine) async throws {
        let server = try Server { _, _ in ("401 Unauthorized", [("WWW-Authenticate", "Basic realm=r")]) }
        for isPreemptive in [true, false] {
            let network = network(engine, .basic(Self.login, isPreemptive: isPreemptive))
            let response = try await network.send(HTTPRequest("GET", server.url()), Self.options)
            #expect(response.status == 401 && response.body == Array("what is there".utf8))
        }
        #expect(server.shown == [Self.basic, nil, Self.basic])
    }

    // MARK: Digest
    /// The parameters of an `Authorization`.
    private static func parameter(_ name: String, _ field: String?) -> String? {
        let field = field ?? "", quoted = try? Regex("[ ,]\(name)=\"([^\"]*)\"").firstMatch(in: field)
        let plain = try? Regex("[ ,]\(name)=([^\",]+)").firstMatch(in: field)
        return (quoted ?? plain)?.output[1].substring.map(String.init)
    }

    private static func hash(_ text: String) -> String {
        ContentDigest.sha256(of: Array(text.utf8)).hexadecimal
    }

    /// Returns whether a request's answer is right, by the formulas of RFC 7616, section 3.4.1.
    private static func isRight(_ request: ReceivedRequest) -> Bool {
        let field = request["Authorization"]
        func value(_ name: String) -> String { parameter(name, field) ?? "" }
        var act = "\(request.method):\(request.target)"
        if value("qop") == "auth-int" { act += ":" + hash(String(decoding: request.body, as: UTF8.self)) }
        let key = hash("ann:\(value("realm")):white whale")
        let expected = hash(
            "\(key):\(value("nonce")):\(value("nc")):\(value("cnonce")):\(value("qop")):\(hash(act))")
        return value("username") == "ann" && value("uri") == request.target && value("response") == expected
    }

    private static func challenge(_ nonce: String, stale: Bool = false, quality: String = "auth") -> [(String, String)]
    {
        [
            ("WWW-Authenticate", "Basic realm=r"),
            (
                "WWW-Authenticate",
                #"Digest realm="r", nonce="\#(nonce)", algorithm=SHA-256, qop="\#(quality)", stale=\#(stale)"#
            ),
        ]
    }

    @Test(arguments: Engine.allCases, ["auth", "auth-int"])
    func `Digest answers a challenge, and counts the requests with its nonce`(engine: Engine, quality: String)
        async throws
    {
        let server = try Server { request, _ in
            Self.isRight(request) ? ("200 OK", []) : ("401 Unauthorized", Self.challenge("n1", quality: quality))
        }
        let network = network(engine, .digest(Self.login))
        for _ in 1...3 {
            let request = HTTPRequest("POST", server.url("/a%20b?q=1&r="), body: .text("moby"))
            #expect(try await network.send(request, Self.options).status == 200)
        }
        #expect(server.shown.map { Self.parameter("nc", $0) } == [nil, "00000001", "00000002", "00000003"])
        #expect(Set(server.shown.dropFirst().map { Self.parameter("qop", $0) }) == [quality])
    }

    @Test func `a stale nonce is replaced, and the next one may come with a response`() async throws {
        let server = try Server { request, number in
            guard let nonce = Self.parameter("nonce", request["Authorization"]) else {
                return ("401 Unauthorized", Self.challenge("n1"))
            }
            if nonce == "n1", number > 2 { return ("401 Unauthorized", Self.challenge("n2", stale: true)) }
            guard Self.isRight(request) else { return ("403 Forbidden", []) }
            return ("200 OK", nonce == "n2" ? [("Authentication-Info", #"nextnonce="n3", qop=auth"#)] : [])
        }
        let network = network(.urlSession, .digest(Self.login)), request = HTTPRequest("GET", server.url())
        for _ in 1...3 { #expect(try await network.send(request, Self.options).status == 200) }
        let used = server.shown.map { field in
            [Self.parameter("nonce", field), Self.parameter("nc", field)].compactMap(\.self).joined(separator: " ")
        }
        #expect(used == ["", "n1 00000001", "n1 00000002", "n2 00000001", "n3 00000001"])
    }

    @Test(arguments: Engine.allCases)
    func `a nonce that is always stale, and a new one without end, end`(engine: Engine) async throws {
        for isStale in [true, false] {
            let server = try Server { _, number in
                ("401 Unauthorized", Self.challenge("n\(number)", stale: isStale))
            }
            let network = network(engine, .digest(Self.login))
            #expect(try await network.send(HTTPRequest("GET", server.url()), Self.options).status == 401)
            #expect(server.shown.count == (isStale ? 4 : 2), "\(server.shown)")
        }
    }

    // MARK: Hosts

    @Test(arguments: Engine.allCases)
    func `a redirect to another host goes without the credential, also back again`(engine: Engine) async throws {
        let other = Mutex("")
        let server = try Server { request, _ in
            request.target == "/start" ? ("302 Found", [("Location", other.withLock { $0 })]) : ("200 OK", [])
        }
        let stranger = try Server { _, _ in ("307 Temporary Redirect", [("Location", server.url("/end"))]) }
        other.withLock { $0 = stranger.url("/elsewhere") }
        var options = Self.options
        options.redirects = 5
        let network = network(engine, .basic(Self.login), hosts: [server.host])
        #expect(try await network.send(HTTPRequest("GET", server.url("/start")), options).status == 200)
        #expect(server.shown == [Self.basic, nil] && stranger.shown == [nil])
        let both = self.network(engine, .basic(Self.login), hosts: [server.host, stranger.host])
        #expect(try await both.send(HTTPRequest("GET", server.url("/start")), options).status == 200)
        #expect(stranger.shown == [nil, Self.basic] && server.shown.last == Self.basic)
    }

    @Test(arguments: [
        ("http://localhost:1/", "is for 127.0.0.1, not for localhost:1; nothing was sent"),
        ("http://127.0.0.1@localhost:1/", "not for localhost:1"), ("file:books.json", "not for"),
        ("http://127.0.0.1.example.org:1/", "not for 127.0.0.1.example.org"),
    ])
    func `a request to a host that the credential is not for is refused`(url: String, message: String) async throws {
        let files = MemoryExecutor(schemes: ["http", "file"]) { _, _ in
            Issue.record("nothing may be sent")
            return HTTPStreamedResponse(HTTPResponse(status: 200))
        }
        let network = HTTPPipeline(
            [files], credentials: Credentials(["library": Credential(hosts: ["127.0.0.1"], .basic(Self.login))]))
        let error = await #expect(throws: BackplaneError.self) {
            try await network.send(HTTPRequest("GET", url), Self.options)
        }
        #expect(error?.code == .networkCredential && error?.message.contains(message) == true, "\(error as Any)")
    }

    @Test func `a credential that is unknown, or given twice, is refused`() async throws {
        let network = network(.urlSession, .basic(Self.login))
        func message(_ headers: HTTPHeaders = [:], _ change: (inout HTTPOptions) -> Void) async -> String? {
            var changed = Self.options
            change(&changed)
            let options = changed
            let error = await #expect(throws: BackplaneError.self) {
                try await network.send(HTTPRequest("GET", "http://127.0.0.1:1/", headers: headers), options)
            }
            #expect(error?.code == .networkCredential && error?.networkNumber == 22)
            return error?.message
        }
        #expect(await message { $0.credential = "libary" } == "there is no credential `libary`; known: `library`")
        #expect(
            await message { $0.account = "bob" }
                == "the credential `library` has no signed-in account `bob`; call `signIn` first")
        #expect(
            await message {
                $0.credential = nil
                $0.account = "x"
            }?.contains("but not its credential") == true)
        #expect(await message(["authorization": "own"]) { _ in }?.contains("use only one of them") == true)
    }

    // MARK: Accounts

    @Test func `accounts are signed in with values, each with a principal of its own`() async throws {
        let server = try Server { _, _ in ("200 OK", []) }
        let network = network(.urlSession, .basic(Login()))
        var options = Self.options
        let plain = options
        let none = await #expect(throws: BackplaneError.self) {
            try await network.send(HTTPRequest("GET", server.url()), plain)
        }
        #expect(none?.message.contains("has no account of its own") == true)
        let first = try await network.signIn("library", as: "ann", with: ["user": "ann", "password": "white whale"])
        let other = try await network.signIn("library", as: "bob", with: ["user": "bob", "password": ""])
        options.account = "ann"
        _ = try await network.send(HTTPRequest("GET", server.url()), options)
        let again = try await network.signIn("library", as: "ann", with: ["user": "ann", "password": "2"])
        #expect(Set([0, first, other, again]).count == 4)
        _ = try await network.send(HTTPRequest("GET", server.url()), options)
        #expect(server.shown == [Self.basic, "Basic " + Data("ann:2".utf8).base64EncodedString()])
        try network.signOut("library", account: "ann")
        try network.signOut("library", account: "nobody")
        let signedOut = options
        await #expect(throws: BackplaneError.self) {
            try await network.send(HTTPRequest("GET", server.url()), signedOut)
        }
        #expect(server.shown.count == 2)
    }

    @Test(arguments: [
        (["user": "a:b", "password": "x"], "a user name that contains a colon"),
        (["user": "a\n", "password": "x"], "control character"),
        (["user": "a", "password": "x\r\ny"], "control character"), (["user": "a"], "needs the values"),
        (["user": "a", "password": "b", "realm": "c"], "accepts the values `password`, `user`, not `realm`"),
        (["user": "a", "password": String(repeating: "b", count: 20_000)], "more than 16 KB"),
    ])
    func `values that a scheme cannot have are refused, and not shown`(values: [String: String], message: String)
        async throws
    {
        let network = network(.urlSession, .basic(Login()))
        let error = await #expect(throws: BackplaneError.self) {
            try await network.signIn("library", as: "ann", with: values)
        }
        #expect(error?.code == .networkCredential && error?.message.contains(message) == true, "\(error as Any)")
        #expect(error?.message.contains("bbbb") == false)
    }
}
