import Backplane
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange
@testable import BackplaneNetwork

/// Retries over sockets, and by a clock that the test controls.
@Suite(.timeLimit(.minutes(5)))
struct RetryTests {
    @Test(arguments: ClientKind.all)
    func `a failing server is asked again, and its last response is the result`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { request, connection in
            let number = count.next()
            let isUp = request.target == "/up" && number % 3 == 0
            connection.answer(isUp ? "200 OK" : "503 Unavailable", body: Array("\(number)".utf8))
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.retry = .immediate
            var up = Endpoint<String>("GET", "up")
            up.verdict = { _, response in
                #expect(response.timings.attempts == 3)
                return .accept
            }
            #expect(try await http.load(up, call) == "3")
            var down = Endpoint<String>("GET", "down")
            down.validStatuses = nil
            #expect(try await http.load(down, call) == "6")
            // Neither without a policy, nor with a method that is not idempotent unless the policy says so.
            (down.retry, down.method) = (RetryPolicy.none, "GET")
            #expect(try await http.load(down, call) == "7")
            (down.retry, down.method, down.body) = (nil, "POST", .text("order"))
            #expect(try await http.load(down, call) == "8")
            down.retry = .immediate
            down.retry?.repeatsAnyMethod = true
            #expect(try await http.load(down, call) == "11")
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `a connection that breaks is no result, before the head and within the body`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            switch count.withLock({ count in
                count += 1
                return count
            }) {
            case 1: connection.reset()
            case 2:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.reset()
            default: connection.answer("200 OK", body: Array("whole".utf8))
            }
        }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("POST", "")  // which executors do not repeat by themselves
            endpoint.retry = .immediate
            endpoint.retry?.repeatsAnyMethod = true
            #expect(try await http.relative(to: server.url()).load(endpoint, call) == "whole")
            #expect(count.withLock { $0 } == 3)
        }
    }

    @Test(arguments: ClientKind.all)
    func `a value that is judged as temporary is loaded again, within the rules`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            let number = count.next()
            connection.answer("200 OK", body: Array("\(number)".utf8))
        }
        try await kind.lend { http, call async throws in
            let attempts = Recording<Int>()
            var endpoint = Endpoint<Int>("GET", "")
            endpoint.retry = .immediate
            endpoint.verdict = { number, response in
                attempts.add(response.timings.attempts)
                return number % 5 == 2 ? .accept : .retry("it is \(number)")
            }
            let http = http.relative(to: server.url())
            #expect(try await http.load(endpoint, call) == 2)
            #expect(attempts.all == [1, 2])
            let error = await error { try await http.load(endpoint, call) }
            #expect(error?.code == .networkRejected && error?.message.hasSuffix("it is 5") == true)
            #expect(attempts.all == [1, 2, 1, 2, 3])
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `an attempt has a time limit of its own`(kind: ClientKind) async throws {
        let count = Mutex(0), stalls = Recording<Bool>()
        let server = try TestServer { _, connection in
            let number = count.next()
            stalls.add(number == 1)
            if number == 1 { connection.stall() } else { connection.answer("200 OK", body: [49]) }
        }
        let clock = TestClock()
        try await kind.lend(by: clock) { http, call async throws in
            var endpoint = Endpoint<Int>("GET", "")
            endpoint.retry = .immediate
            endpoint.retry?.attemptTimeout = .seconds(5)
            let load = endpoint.load(on: http.relative(to: server.url()), call)
            _ = try await stalls.first { $0 }
            try await clock.expire(.seconds(5))
            #expect(try await load.value == 1)
        }
    }

    private func network(
        _ clock: some Clock<Duration>, _ answer: @escaping @Sendable (Int) -> HTTPResponse
    ) -> HTTPPipeline {
        let count = Mutex(0)
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(
                answer(
                    count.withLock { count in
                        count += 1
                        return count
                    }))
        }
        return HTTPPipeline([executor], retries: Retries(clock: clock, random: { 1 }))
    }

    @Test func `delays go by the clock, and Retry-After is waited for`() async throws {
        let clock = TestClock()
        let network = network(clock) { number in
            switch number {
            case 1: HTTPResponse(status: 503)
            case 2: HTTPResponse(status: 429, headers: ["Retry-After": "7"])
            default: HTTPResponse(status: 200)
            }
        }
        var options = HTTPOptions()
        options.retry = RetryPolicy()
        let exchange = Task { [options] in try await network.send(HTTPRequest("GET", "http://h"), options) }
        try await clock.expire(.milliseconds(200))
        try await clock.expire(.seconds(7))
        let response = try await exchange.value
        #expect(response.status == 200 && response.timings.attempts == 3)
    }

    @Test func `cancelling ends a delay at once`() async throws {
        let clock = TestClock(), network = network(clock) { _ in HTTPResponse(status: 503) }
        var options = HTTPOptions()
        options.retry = RetryPolicy()
        let exchange = Task { [options] in try await network.send(HTTPRequest("GET", "http://h"), options) }
        try await clock.waiters(for: .milliseconds(200))
        exchange.cancel()
        await #expect(throws: CancellationError.self) { try await exchange.value }
    }

    @Test func `no attempt is waited for that would come after the time limit`() async throws {
        let network = network(TestClock()) {
            HTTPResponse(status: 503, headers: ["Retry-After": "50"], body: [UInt8($0)])
        }
        var options = HTTPOptions()
        (options.retry, options.totalTimeout) = (RetryPolicy(), .seconds(40))
        let response = try await network.send(HTTPRequest("GET", "http://h"), options)
        #expect(response.status == 503 && response.body == [1])
    }

    @Test func `a host that is down is asked a tenth more often, however many callers there are`() async throws {
        let clock = TestClock(), counted = Mutex(0)
        let executor = MemoryExecutor { request, _ in
            if request.url == "http://down" { counted.withLock { $0 += 1 } }
            return HTTPStreamedResponse(HTTPResponse(status: request.url == "http://down" ? 503 : 200))
        }
        // Nobody sleeps: the random part of every delay is nothing.
        let retries = Retries(clock: clock, random: { 0 }), network = HTTPPipeline([executor], retries: retries)
        var options = HTTPOptions()
        options.retry = RetryPolicy()
        for _ in 1...1_000 { _ = try await network.send(HTTPRequest("GET", "http://down"), options) }
        #expect((1_100...1_110).contains(counted.withLock { $0 }), "\(counted.withLock { $0 })")
    }

    @Test func `a budget is refilled by requests and by time, and each host has its own`() {
        let budget = RetryBudget()
        func taken(_ host: String, at time: Duration) -> Int {
            (0..<100).prefix { _ in budget.take(host, at: time) }.count
        }
        #expect(taken("a", at: .zero) == 10 && taken("b", at: .zero) == 10)
        for _ in 1...25 { budget.requested("a", at: .zero) }
        #expect(taken("a", at: .zero) == 2 && taken("b", at: .zero) == 0)
        #expect(taken("b", at: .seconds(35)) == 3)
        #expect(taken("b", at: .seconds(36_000)) == 10)
        #expect(taken("b", at: .zero) == 0, "a clock that goes back gives nothing")
    }
}

/// The rules for retries, which are pure: delays, `Retry-After`, and what may be repeated.
struct RetryPolicyTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test func `the bound of a delay doubles up to a limit, and chance takes a part of it`() {
        var policy = RetryPolicy()
        (policy.base, policy.limit) = (.milliseconds(100), .seconds(1))
        #expect(
            (1...6).map { policy.backoff(after: $0, random: 1) / .milliseconds(1) } == [
                100, 200, 400, 800, 1_000, 1_000,
            ])
        #expect(policy.backoff(after: 3, random: 0.5) == .milliseconds(200))
        #expect(policy.backoff(after: 3, random: 0) == .zero)
        #expect(policy.backoff(after: .max, random: 1) == .seconds(1))
        policy.base = .seconds(5)
        #expect(policy.backoff(after: 1, random: 1) == .seconds(1))
    }

    @Test(
        arguments: [
            ("2", 2), ("0", 0.1), ("60", 60), ("61", nil), ("31536000", nil), ("99999999999999999999999", nil),
            ("-1", 0.1), ("soon", 0.1), ("", 0.1), (" 3 ", 3), ("1.5", 0.1),
            ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
            ("Sun Nov  6 08:49:47 1994", 10), ("Sun, 06 Nov 1994 08:00:00 GMT", 0.1),
            ("06 nov 1994 08:49:47 UTC", 10), ("Sun, 6 November 1994 08:49:47 +0000", 10),
            ("Sun Nov 06 1994 08:49:47 GMT+0000 (UTC)", 10), ("Sun, 31 Feb 2094 08:49:47 GMT", 0.1),
            ("Sun, 06 Nov 08:49:47 GMT", 0.1), ("+5", 0.1), ("0x10", 0.1),
            ("Mon, 06 Nov 1995 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:47 GMT", 0.1),
        ] as [(String, Double?)])
    func `Retry-After is waited for up to a limit, and what cannot be read counts as none`(
        value: String, expected: Double?
    ) {
        var policy = RetryPolicy()
        policy.base = .milliseconds(100)
        let delay = policy.delay(after: 503, ["Retry-After": value], attempt: 1, now: now, random: 1)
        #expect(delay.map { $0 / .seconds(1) } == expected)
    }

    @Test func `only the statuses of the policy are repeated`() {
        let policy = RetryPolicy()
        for status in [200, 301, 400, 404, 500, 501] {
            #expect(policy.delay(after: status, [:], attempt: 1, now: now, random: 1) == nil)
        }
        for status in [408, 425, 429, 502, 503, 504] {
            #expect(policy.delay(after: status, [:], attempt: 1, now: now, random: 1) != nil)
        }
    }

    @Test func `idempotent methods are repeated, others where the policy says so, and bodies that can be sent again`() {
        var policy = RetryPolicy(attempts: 2)
        func allows(_ method: String, _ body: HTTPBody = .none, after attempt: Int = 1) -> Bool {
            policy.allows(HTTPRequest(method, "http://h", body: body), after: attempt)
        }
        #expect(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get"].allSatisfy { allows($0) })
        #expect(["POST", "PATCH", "CONNECT", "brew", "BREW"].allSatisfy { !allows($0) })
        #expect(!allows("GET", after: 2))
        #expect(allows("PUT", .text("a")) && !allows("PUT", .stream(Chunks([1], size: 1))))
        policy.repeatsAnyMethod = true
        #expect(allows("POST", .text("a")) && !allows("POST", .stream(Chunks([1], size: 1))))
    }

    @Test func `rules cross the boundary as text`() throws {
        var policy = RetryPolicy(attempts: 7)
        (policy.base, policy.limit, policy.retryAfterLimit) = (.milliseconds(50), .seconds(3), .seconds(90))
        (policy.statuses, policy.attemptTimeout, policy.repeatsAnyMethod) = ([503, 429], .milliseconds(1_500), true)
        #expect(policy.text == "attempts=7 base=0.05 limit=3.0 after=90.0 statuses=429,503 attempt=1.5 any")
        #expect(try RetryPolicy(text: policy.text).text == policy.text)
        #expect(try RetryPolicy(text: RetryPolicy().text).text == RetryPolicy().text)
        #expect(try RetryPolicy(text: "").text == RetryPolicy().text)
        #expect(try RetryPolicy(text: "statuses=").statuses == [])
        for wrong in [
            "attempts", "attempts=-1", "attempts=x", "base=-1", "base=nan", "limit=1e99", "tea=1", "any=1",
            "statuses=a",
        ] {
            let error = #expect(throws: BackplaneError.self) {
                let policy = try RetryPolicy(text: wrong)
                return policy.text
            }
            #expect(error?.code == .networkRefused && error?.message.contains("`\(wrong)`") == true)
        }
    }
}

/// Redirects: the rules, which are pure, and their way over sockets.
@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
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
