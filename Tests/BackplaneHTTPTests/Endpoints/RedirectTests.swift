import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

@testable import BackplaneExchange

/// Redirects: the rules, which are pure, and their way over sockets.
@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
    // MARK: The rules

    private func next(
        _ status: Int, _ location: String, _ method: String = "GET", from url: String = "http://h/a/b?q=1",
        headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) throws -> HTTPRequest? {
        var redirection = Redirection(limit: 1)
        return try redirection.next(
            after: status, ["Location": location], of: HTTPRequest(method, url, headers: headers, body: body))
    }

    @Test(arguments: [
        (301, "GET", "GET"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "HEAD", "HEAD"), (302, "POST", "GET"),
        (302, "DELETE", "DELETE"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "GET", "GET"),
        (303, "HEAD", "HEAD"), (307, "POST", "POST"), (308, "PATCH", "PATCH"), (308, "GET", "GET"),
    ])
    func `the method changes as browsers change it, and then the body is left out`(
        status: Int, method: String, expected: String
    ) throws {
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Language": "en", "X-A": "b"]
        let found = try #require(try next(status, "/c", method, headers: headers, body: .text("order")))
        #expect(found.method == expected && found.url == "http://h/c")
        #expect(found.body.isEmpty == (method != expected))
        #expect(found.headers == (method == expected ? headers : ["X-A": "b"]))
    }

    @Test(arguments: [
        ("c", "http://h/a/c"), ("../c", "http://h/c"), ("?r=2", "http://h/a/b?r=2"), ("//other/c", "http://other/c"),
        ("https://other/c#part", "https://other/c"), ("HTTP://H/c", "http://H/c"), ("http://eve:pw@h/c", "http://h/c"),
        ("/c d", "http://h/c%20d"), ("/t \t", "http://h/t"), ("./d/./e/..", "http://h/a/d/"), ("", "http://h/a/b?q=1"),
        ("/caf%C3%A9 menu|[é?s=%2B |", "http://h/caf%C3%A9%20menu%7C%5B%C3%A9?s=%2B%20%7C"),
    ])
    func `a location is relative to the request, and brings no credentials`(location: String, expected: String) throws {
        #expect(try next(302, location)?.url == expected)
    }

    @Test(arguments: ["/caf\u{FFFD}", "http://[h/c", "http://h:x/c", "http://a b/c", "mailto:ann@h"])
    func `a location that is not a URL of a server is an error`(location: String) {
        let error = #expect(throws: BackplaneError.self) {
            let found = try next(302, location)
            return found?.url
        }
        #expect(error?.code == .networkRedirect)
    }

    @Test func `credentials in a URL stay with its origin`() throws {
        #expect(try next(302, "/c", from: "http://ann:pw@h/a")?.url == "http://ann:pw@h/c")
        #expect(try next(302, "http://h:80/c", from: "http://ann:pw@h/a")?.url == "http://ann:pw@h:80/c")
        #expect(try next(302, "http://other/c", from: "http://ann:pw@h/a")?.url == "http://other/c")
        #expect(try next(302, "https://h/c", from: "http://ann:pw@h/a")?.url == "https://h/c")
    }

    @Test(arguments: ["http://other/c", "http://h:8080/c", "https://h/c", "http://h.other/c"])
    func `header fields that may be credentials stay with their origin`(location: String) throws {
        let harmless: HTTPHeaders = [
            "Accept": "a", "Content-Type": "b", "If-None-Match": "c", "User-Agent": "d", "Last-Event-ID": "7",
        ]
        var headers = harmless
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key", "traceparent", "Referer", "Host"] {
            headers.add(name, "secret")
        }
        #expect(try next(307, location, "PUT", headers: headers)?.headers == harmless)
        #expect(try next(307, "http://H:80/c", "PUT", headers: headers)?.headers == headers)
    }

    @Test func `what is no redirect is the response`() throws {
        for status in [200, 300, 304, 305, 306, 399, 400] { #expect(try next(status, "/c") == nil) }
        var redirection = Redirection(limit: 1)
        #expect(try redirection.next(after: 302, [:], of: HTTPRequest("GET", "http://h")) == nil)
    }

    @Test func `a body that can be sent only once is not sent again`() throws {
        let error = #expect(throws: BackplaneError.self) {
            let found = try next(307, "/c", "POST", body: .stream(Chunks([1], size: 1)))
            return found?.url
        }
        #expect(error?.code == .networkRedirect && error?.message.contains("only once") == true)
        #expect(try next(303, "/c", "POST", body: .stream(Chunks([1], size: 1)))?.method == "GET")
    }

    // MARK: Over sockets

    @Test(arguments: ClientKind.all)
    func `a secret does not reach another origin, nor comes it back`(kind: ClientKind) async throws {
        let received = Recording<String>()
        let home = try TestServer { request, connection in
            received.add("home \(request["Authorization"] ?? "-") \(request["X-API-Key"] ?? "-")")
            if request.target == "/end" { return connection.answer("200 OK") }
            connection.answer("302 Found", [("Location", request["X-Next"] ?? "")])
        }
        let other = try TestServer { request, connection in
            received.add("other \(request["Authorization"] ?? "-") \(request["X-API-Key"] ?? "-")")
            connection.answer("302 Found", [("Location", home.url("/end"))])
        }
        try await kind.lend { http, call async throws in
            let headers: HTTPHeaders = [
                "Authorization": "Bearer secret", "X-API-Key": "secret", "X-Next": other.url("/"),
            ]
            _ = try await http.relative(to: home.url()).load(Endpoint<Nothing>("GET", "start", headers: headers), call)
        }
        #expect(received.all == ["home Bearer secret secret", "other - -", "home - -"])
    }

    @Test(arguments: ClientKind.all)
    func `a loop ends at the limit, and nothing follows a redirect that is refused`(kind: ClientKind) async throws {
        let received = Recording<String>()
        let server = try TestServer { request, connection in
            received.add(request.target)
            connection.answer("302 Found", [("Location", request.target == "/file" ? "file:///etc/passwd" : "/loop")])
        }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            func error(_ path: String) async -> BackplaneError? {
                await #expect(throws: BackplaneError.self) {
                    var endpoint = Endpoint<String>("GET", path)
                    endpoint.retry = .immediate
                    return try await http.load(endpoint, call)
                }
            }
            let loop = await error("loop")
            #expect(loop?.code == .networkRedirect && loop?.message.contains("more than 20 redirects") == true)
            #expect(received.all.count == 21)
            let file = await error("file")
            #expect(file?.code == .networkRedirect && received.all.count == 22)
        }
    }
}
