import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneExchange

/// The cookies of a principal (RFC 6265): which are taken, and where they go.
@Suite(.timeLimit(.minutes(5)))
struct CookieTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Returns the `Cookie` of a request after a response to another one.
    private func sent(
        _ fields: [String], from url: String, to other: String, after seconds: Double = 0
    ) -> String? {
        let time = Mutex(Self.now), jar = CookieJar { time.withLock { $0 } }
        var headers: HTTPHeaders = [:]
        for field in fields { headers.add("Set-Cookie", field) }
        jar.receive(headers, to: HTTPRequest("GET", url))
        time.withLock { $0 += seconds }
        return jar.request(HTTPRequest("GET", other)).headers["Cookie"]
    }

    @Test(
        arguments: [
            // The host alone, or those below a domain.
            ("a=1", "http://b.test/", "http://b.test/x", "a=1"), ("a=1", "http://b.test/", "http://c.b.test/", nil),
            ("a=1; Domain=b.test", "http://c.b.test/", "http://d.b.test/", "a=1"),
            ("a=1; Domain=.b.test", "http://b.test/", "http://d.b.test/", "a=1"),
            ("a=1; Domain=b.test", "http://c.b.test/", "http://eb.test/", nil),
            ("a=1; domain=c.test", "http://b.test/", "http://c.test/", nil),
            ("a=1; Domain=c.b.test", "http://b.test/", "http://c.b.test/", nil),
            // A single label is everybody's.
            ("a=1; Domain=test", "http://b.test/", "http://c.test/", nil),
            ("a=1; Domain=test", "http://b.test/", "http://b.test/", nil),
            ("a=1; Domain=localhost", "http://localhost:1/", "http://localhost:2/", "a=1"),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
            ("a=1", "http://127.0.0.1/", "http://127.0.0.1/", "a=1"),
            // Paths.
            ("a=1; Path=/x", "http://b.test/", "http://b.test/x/y", "a=1"),
            ("a=1; Path=/x", "http://b.test/", "http://b.test/xy", nil),
            ("a=1; Path=/x", "http://b.test/", "http://b.test/x?q", "a=1"),
            ("a=1", "http://b.test/x/y", "http://b.test/x/z", "a=1"),
            ("a=1", "http://b.test/x/y", "http://b.test/", nil),
            ("a=1; Path=x", "http://b.test/", "http://b.test/", "a=1"),
            // Secure connections.
            ("a=1; Secure", "https://b.test/", "https://b.test/", "a=1"),
            ("a=1; secure", "https://b.test/", "http://b.test/", nil),
            ("a=1; Secure", "http://b.test/", "https://b.test/", nil),
            // Prefixes of names.
            ("__Host-a=1; Secure; Path=/", "https://b.test/x/", "https://b.test/", "__Host-a=1"),
            ("__host-a=1; Path=/", "https://b.test/", "https://b.test/", nil),
            ("__Host-a=1; Secure", "https://b.test/", "https://b.test/", nil),
            ("__Host-a=1; Secure; Path=/; Domain=b.test", "https://b.test/", "https://b.test/", nil),
            ("__Secure-a=1; Secure", "https://b.test/", "https://b.test/", "__Secure-a=1"),
            ("__Secure-a=1", "https://b.test/", "https://b.test/", nil),
            // Names and values.
            ("a=1;\tPath=/x", "http://b.test/", "http://b.test/x", "a=1"),
            ("a=1; Domain=bücher.example", "http://c.bücher.example/", "http://xn--bcher-kva.example/", "a=1"),
            ("a=", "http://b.test/", "http://b.test/", "a="),
            (" a = 1 2 ; HttpOnly", "http://b.test/", "http://b.test/", "a=1 2"),
            ("a=b=c", "http://b.test/", "http://b.test/", "a=b=c"), ("a", "http://b.test/", "http://b.test/", nil),
            ("=1", "http://b.test/", "http://b.test/", nil), ("a=1\u{1}", "http://b.test/", "http://b.test/", nil),
            ("a=\(String(repeating: "x", count: 4_096))", "http://b.test/", "http://b.test/", nil),
        ] as [(String, String, String, String?)])
    func `a cookie goes where it may`(field: String, from: String, to: String, expected: String?) {
        #expect(sent([field], from: from, to: to) == expected)
    }

    @Test(
        arguments: [
            ("a=1; Max-Age=10", 9, "a=1"), ("a=1; Max-Age=10", 10, nil), ("a=1; Max-Age=0", 0, nil),
            ("a=1; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 9, "a=1"),
            ("a=1; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 10, nil),
            ("a=1; Max-Age=10; Expires=Fri, 15 Jan 2021 08:00:10 GMT", 9, "a=1"), ("a=1; Max-Age=x", 1e9, "a=1"),
            ("a=1; Expires=tomorrow", 1e9, "a=1"), ("a=1; Max-Age=0x10", 1e9, "a=1"), ("a=1; Max-Age=1e3", 1e9, "a=1"),
            ("a=1; Max-Age=+5", 1e9, "a=1"), ("a=1; Max-Age=1.5", 1e9, "a=1"), ("a=1; Max-Age=nan", 1e9, "a=1"),
            ("a=1; Max-Age=-1", 0, nil), ("a=1; Max-Age=10; Max-Age=x", 10, nil),
            ("a=1; Expires=Fri, 15 Jan 2021 08:00:10 UTC", 0, nil), ("a=1; Expires=15 Jan 2021 08:00:10 +0000", 0, nil),
            ("a=1; Expires=Friday, 15 January 2021 08:00:10 gmt", 0, nil),
            ("a=1; Expires=Fri Jan 15 2021 08:00:10 GMT+0000 (UTC)", 0, nil),
            ("a=1; Expires=Fri, 32 Jan 2021 08:00:10 GMT", 1e9, "a=1"),
        ] as [(String, Double, String?)])
    func `a cookie ends at its time`(field: String, seconds: Double, expected: String?) {
        #expect(sent([field], from: "http://b.test/", to: "http://b.test/", after: seconds) == expected)
    }

    @Test func `a cookie that replaces another keeps its place, and one that ends removes it`() {
        let fields = ["a=1", "b=1", "c=1", "a=2", "b=; Max-Age=0"]
        #expect(sent(fields, from: "http://b.test/", to: "http://b.test/") == "a=2; c=1")
    }

    @Test(arguments: Engine.allCases)
    func `an account has a jar of its own, if the credential says so`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            let user = request["Authorization"]?.suffix(8) ?? "nobody"
            connection.answer(
                "200 OK", [("Set-Cookie", "seen=\(user)"), ("Set-Cookie", "more=1")],
                body: Array((request["Cookie"] ?? "none").utf8))
        }
        func credential(_ hasCookies: Bool) -> Credential {
            Credential(hosts: ["127.0.0.1"], .basic(Login()), hasCookies: hasCookies)
        }
        let network = HTTPPipeline(
            [engine.executor()], credentials: Credentials(["jar": credential(true), "none": credential(false)]))
        func cookies(_ name: String, _ account: String, own: String? = nil) async throws -> String {
            var options = HTTPOptions(), request = HTTPRequest("GET", server.url())
            (options.credential, options.account) = (name, account)
            request.headers["Cookie"] = own
            let response = try await network.send(request, options)
            #expect((response.headers["Set-Cookie"] == nil) == (name == "jar"), "the jar's cookies are not shown")
            return String(decoding: response.body, as: UTF8.self)
        }
        for name in ["jar", "none"] {
            for account in ["ann", "bob"] {
                try await network.signIn(name, as: account, with: ["user": account, "password": "pw"])
            }
        }
        #expect(try await cookies("jar", "ann") == "none")
        let ann = try await cookies("jar", "ann"), first = try await cookies("jar", "bob")
        #expect(ann.hasPrefix("seen=") && ann.hasSuffix("; more=1") && first == "none")
        #expect(try await cookies("jar", "bob") != ann)
        #expect(try await cookies("jar", "ann", own: "mine=1") == "mine=1")
        _ = try await cookies("none", "ann")
        #expect(try await cookies("none", "ann") == "none")
        try await network.signIn("jar", as: "ann", with: ["user": "ann", "password": "pw"])
        #expect(try await cookies("jar", "ann") == "none", "another sign-in is another principal")
    }
}
