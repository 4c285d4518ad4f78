import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange

/// The reading of `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct ChallengeTests {
    private func read(_ values: String...) -> [AuthenticationChallenge] {
        var headers: HTTPHeaders = [:]
        for value in values { headers.add("WWW-Authenticate", value) }
        return AuthenticationChallenge.challenges(in: headers)
    }

    /// A challenge as a text that is easy to compare.
    private func texts(_ challenges: [AuthenticationChallenge]) -> [String] {
        challenges.map { challenge in
            ([challenge.scheme] + (challenge.token.map { ["<\($0)>"] } ?? [])
                + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        }
    }

    @Test(arguments: [
        (#"Basic realm="simple""#, ["basic realm=simple"]),
        // The example of RFC 9110: two schemes in one field, and a quoted string with what looks like another.
        (
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            ["basic realm=simple", #"newauth realm=apps type=1 title=Login to "apps""#]
        ),
        (
            #"Digest realm="a, Basic b=\"c\"", nonce=n ,qop="auth,auth-int""#,
            [#"digest realm=a, Basic b="c" nonce=n qop=auth,auth-int"#]
        ),
        ("Negotiate", ["negotiate"]), ("Negotiate, Basic realm=x", ["negotiate", "basic realm=x"]),
        ("Negotiate a87421000492aa874209af8bc028==", ["negotiate <a87421000492aa874209af8bc028==>"]),
        ("NTLM TlRM/+-._~=, Basic realm=x", ["ntlm <TlRM/+-._~=>", "basic realm=x"]),
        ("Basic realm = \"spaces\" , charset=UTF-8", ["basic realm=spaces charset=UTF-8"]),
        (", ,Basic realm=x,,, Bearer", ["basic realm=x", "bearer"]),
        ("BEARER ERROR=\"Invalid\"", ["bearer error=Invalid"]),
        (#"Basic realm="Bücher «Wal» 📚""#, ["basic realm=Bücher «Wal» 📚"]), (#"Basic realm="""#, ["basic realm="]),
        ("", []), (",,", []), ("   ", []),
    ])
    func `challenges are told apart`(field: String, expected: [String]) {
        #expect(texts(read(field)) == expected)
    }

    @Test func `several fields are several lists`() {
        #expect(
            texts(read("Basic realm=a, Bearer", "Digest nonce=n")) == ["basic realm=a", "bearer", "digest nonce=n"])
    }

    @Test(arguments: [
        (#"Basic realm="open"#, []), (#"Basic realm=, Bearer realm=b"#, ["basic <realm=>", "bearer realm=b"]),
        (#"Basic realm="a"b, Bearer"#, ["bearer"]), (#"= , Bearer realm=b"#, ["bearer realm=b"]),
        (#"Basic realm="x\"#, []), (#"Basic "quoted, Bearer", Digest nonce=n"#, ["digest nonce=n"]),
        (#"realm=nobody's, Bearer"#, ["bearer"]), (#"Basic a b, Bearer"#, ["bearer"]),
    ])
    func `what cannot be read is skipped, with its challenge`(field: String, expected: [String]) {
        #expect(texts(read(field)) == expected)
    }
}

/// Digest authentication (RFC 7616): the RFC's vectors, the choice among challenges, and what a challenge may ask for.
struct DigestTests {
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let fields = """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=%, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """

    private func challenges(_ fields: String...) -> [AuthenticationChallenge] {
        var headers: HTTPHeaders = [:]
        for field in fields { headers.add("WWW-Authenticate", field) }
        return AuthenticationChallenge.challenges(in: headers)
    }

    private func challenge(_ algorithm: String, _ more: String = "") throws -> DigestChallenge {
        let field = Self.fields.replacing("%", with: algorithm) + more
        return try #require(DigestChallenge.best(of: challenges(field)))
    }

    private func answer(
        _ challenge: DigestChallenge, user: String = "Mufasa", _ method: String = "GET", count: UInt32 = 1,
        body: String = ""
    ) -> String {
        DigestSession(challenge, count: count, clientNonce: Self.clientNonce)
            .field(user, "Circle of Life", method, "/dir/index.html", body: Array(body.utf8))
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the answers of RFC 7616, section 3.9.1`(algorithm: String, response: String) throws {
        #expect(
            answer(try challenge(algorithm)) == """
                Digest username="Mufasa", realm="http-auth@example.org", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", response="\(response)", \
                algorithm=\(algorithm), cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, nc=00000001, \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """)
    }

    // Computed with Python's hashlib after the formulas of RFC 7616, section 3.4.
    @Test(arguments: [
        ("MD5-sess", "8e8c484b4fec404078dd1926eb4c3e4e"),
        ("SHA-256-SESS", "a447db29b396f8a81e6c970e63819eb7db8aaacb928391dd702750aa62cc15ad"),
    ])
    func `a session's key, and the body's digest, are parts of the answer`(algorithm: String, response: String) throws {
        var challenge = try challenge(algorithm)
        challenge.quality = .body
        let field = answer(challenge, "POST", count: 2, body: "what?")
        #expect(field.contains("response=\"\(response)\""), "\(field)")
        #expect(field.contains("qop=auth-int, nc=00000002") && field.contains("-sess"))
        #expect(answer(challenge, "POST", count: 2, body: "what!") != field)
    }

    @Test func `the strongest algorithm is answered, wherever it stands`() {
        let both = challenges(
            "Digest realm=r, nonce=1, algorithm=MD5, qop=auth, Digest realm=r, nonce=2, algorithm=SHA-256, qop=auth")
        #expect(DigestChallenge.best(of: both)?.nonce == "2")
        #expect(DigestChallenge.best(of: both.dropLast())?.nonce == "1")
        let strange = challenges(
            "Digest realm=r, nonce=1, algorithm=SHA-512-256, qop=auth", "Digest realm=r, nonce=2, qop=auth")
        #expect(DigestChallenge.best(of: strange)?.nonce == "2")
    }

    @Test(arguments: [
        "Basic realm=r", "Digest realm=r, qop=auth", "Digest nonce=n, qop=auth", "Digest realm=r, nonce=n",
        "Digest realm=r, nonce=n, qop=other", "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-1",
        "Digest realm=\"a\u{1}\", nonce=n, qop=auth",
    ])
    func `what cannot be answered is not`(field: String) {
        #expect(DigestChallenge.best(of: challenges(field)) == nil)
    }
}

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
        let error = await error { try await network.send(HTTPRequest("GET", url), Self.options) }
        #expect(error?.code == .networkCredential && error?.message.contains(message) == true, "\(error as Any)")
    }
}

/// SHA-256 and MD5, by their published vectors.
struct ContentDigestTests {
    private static let longText = """
        abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst\
        nopqrstu
        """

    private func text(_ algorithm: ContentDigest.Algorithm, _ bytes: [UInt8]) -> String {
        ContentDigest.digest(of: bytes, by: algorithm).hexadecimal
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (longText, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `SHA-256 has the values that NIST gives for FIPS 180-4`(content: String, expected: String) {
        #expect(text(.sha256, Array(content.utf8)) == expected, "\(content.utf8.count) bytes")
    }

    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func `MD5 has the values of RFC 1321`(content: String, expected: String) {
        #expect(text(.md5, Array(content.utf8)) == expected)
    }

    // Of the bytes 0, 1, 2 and so on, computed with sha256sum and md5sum: the lengths at which a block is full, or at
    // which the number of bits no longer fits into it.
    @Test(arguments: [
        (
            55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
            "6912ee65fff2d9f9ce2508cddf8bcda0"
        ),
        (
            56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
            "51fdd1acda72405dfdfa03fcb85896d7"
        ),
        (
            64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108",
            "b2d3f56bc197fd985d5965079b5e7148"
        ),
        (
            120, "f52b23db1fbb6ded89ef42a23ce0c8922c45f25c50b568a93bf1c075420bbb7c",
            "b7ba1efc6022e9ed272f00b8831e26e6"
        ),
    ])
    func `content that ends near a block's end is padded rightly`(count: Int, sha256: String, md5: String) {
        let bytes = (0..<count).map { UInt8($0) }
        #expect(text(.sha256, bytes) == sha256 && text(.md5, bytes) == md5)
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `content in pieces has the digest of the whole`(algorithm: ContentDigest.Algorithm) {
        let bytes = [UInt8].pattern(count: 300)
        for size in [1, 7, 55, 63, 64, 65, 128, 300] {
            var digest = ContentDigest(algorithm)
            for start in stride(from: 0, to: bytes.count, by: size) {
                digest.update(Array(bytes[start..<min(start + size, bytes.count)]))
                digest.update([])
            }
            #expect(digest.finalize() == ContentDigest.digest(of: bytes, by: algorithm), "pieces of \(size)")
        }
    }
}
