import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// Loads through a cache in memory, with a server and a clock that the test controls.
@Suite(.timeLimit(.minutes(5)))
struct CacheTests {
    private static let books = "http://books.test"

    private func endpoint(_ cache: CachePolicy) -> Endpoint<String> { endpoint("list", cache) }

    private func endpoint(_ path: String, _ cache: CachePolicy) -> Endpoint<String> {
        var endpoint = Endpoint<String>("GET", path)
        endpoint.options.cache = cache
        return endpoint
    }

    @Test func `a response with a lifetime answers until that has passed, and says its source and age`() async throws {
        let server = GatedServer(), http = server.client(), list = endpoint(.memory(for: .seconds(60)))
        let first = try await http.loadWithResponse(list, Call())
        #expect(first.value == "1" && first.response.source == .network && first.response.age == nil)
        server.clock.advance(by: .seconds(59))
        let second = try await http.loadWithResponse(list, Call())
        #expect(second.value == "1" && second.response.source == .memory && second.response.age == .seconds(59))
        server.clock.advance(by: .seconds(1))
        #expect(try await http.load(list) == "2")
        #expect(try await http.load(endpoint(.none)) == "3")
        #expect(try await http.load(list) == "2")
    }

    @Test func `only an accepted response is stored`() async throws {
        let server = GatedServer { _, number in
            number == 1 ? .text("down", 404) : number == 2 ? .text("{") : .text("\(number)")
        }
        let http = server.client()
        var numbers = Endpoint<Int>("GET", "list")
        numbers.options.cache = .memory(for: .seconds(60))
        numbers.verdict = { number, _ in number == 3 ? .reject("it is three") : .accept }
        for code in [BackplaneError.Code.networkStatus, .networkUnparsable, .networkRejected] {
            let error = await http.failure(of: numbers)
            #expect(error?.code == code)
        }
        #expect(try await http.load(numbers) == 4)
        #expect(try await http.load(numbers) == 4)
        #expect(server.count == 4)
    }

    @Test func `a server confirms a stale response, and the body comes from the cache`() async throws {
        let server = GatedServer { request, number in
            guard request.headers["If-None-Match"] == "\"1\"" else {
                return .text("moby", 200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"])
            }
            return .text("", 304, ["ETag": number == 3 ? "\"2\"" : "\"1\"", "X-Number": "\(number)"])
        }
        let http = server.client(), list = endpoint(.http(in: .memory))
        #expect(try await http.load(list) == "moby")
        server.clock.advance(by: .seconds(11))
        let confirmed = try await http.loadWithResponse(list, Call())
        #expect(confirmed.value == "moby" && confirmed.response.status == 200 && confirmed.response.source == .memory)
        #expect(confirmed.response.headers["X-Number"] == "2" && confirmed.response.headers["Age"] == "0")
        server.clock.advance(by: .seconds(11))
        // A confirmation of another response is none: the whole response is requested.
        #expect(try await http.load(list) == "moby")
        #expect(server.requests.all.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", "\"1\"", nil])
    }

    @Test func `one stored response answers conditions and ranges, and a stale one is confirmed by its own tag`()
        async throws
    {
        let server = GatedServer { request, number in
            request.headers["If-None-Match"] == "\"1\""
                ? .text("", 304, ["ETag": "\"1\""])
                : .text("moby", 200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"])
        }
        let http = server.client()
        func load(_ headers: HTTPHeaders) async throws -> HTTPResponse {
            var whole = Endpoint<HTTPResponse>("GET", "list", headers: headers)
            (whole.options.cache, whole.validStatuses) = (.http(in: .memory), nil)
            return try await http.load(whole)
        }
        #expect(try await load([:]).status == 200)
        #expect(try await load(["If-None-Match": "\"1\""]).status == 304)
        #expect(try await load(["Range": "bytes=0-1"]).body == Array("mo".utf8))
        #expect(server.count == 1)
        server.clock.advance(by: .seconds(11))
        #expect(try await load(["If-None-Match": "\"0\"", "Range": "bytes=0-1"]).body == Array("mo".utf8))
        #expect(server.requests.all.last?.headers.values("If-None-Match") == ["\"1\""])
        #expect(server.requests.all.last?.headers["Range"] == nil)
        #expect(try await load(["If-Range": "\"1\"", "Range": "bytes=0-1"]).status == 200)
        #expect(server.count == 3, "only a server judges other conditions")
    }

    @Test func `a response in memory is judged like any other`() async throws {
        let server = GatedServer { _, number in
            .text("[\(number)]", number == 1 ? 404 : 200, ["Cache-Control": "max-age=60"])
        }
        let http = server.client()
        func endpoint<Value: Decodable>(_ type: Value.Type) -> Endpoint<Value> {
            var endpoint = Endpoint<Value>("GET", "list")
            endpoint.options.cache = .http(in: .memory)
            return endpoint
        }
        var any = endpoint([Int].self)
        any.validStatuses = nil
        #expect(try await http.load(any) == [1])
        server.clock.advance(by: .seconds(9))
        let (value, response) = try await http.loadWithResponse(any, Call())
        #expect(value == [1] && response.status == 404 && response.age == .seconds(9) && response.headers["Age"] == "9")
        #expect(server.count == 1)
        #expect(try await http.load(endpoint([Int].self)) == [2], "its status is not valid here")
        var short = endpoint(String.self), picky = endpoint([Int].self)
        short.options.maximumBodySize = 2
        picky.verdict = { numbers, _ in numbers == [2] ? .reject("it is two") : .accept }
        let error = await http.failure(of: short)
        #expect(error?.code == .networkTooLarge)
        #expect(try await http.load(picky) == [4])
    }

    @Test func `an error that a range causes is not the response of the resource`() async throws {
        let server = GatedServer { request, _ in
            request.headers["Range"] == nil ? .text("moby") : .text("no", 416, ["Cache-Control": "max-age=60"])
        }
        let http = server.client()
        var part = Endpoint<String>("GET", "list", headers: ["Range": "bytes=9-"])
        (part.options.cache, part.validStatuses) = (.http(in: .memory), nil)
        #expect(try await http.load(part) == "no")
        #expect(try await http.load(endpoint(.http(in: .memory))) == "moby")
    }

    @Test func `a shared cache keeps the responses of accounts apart`() async throws {
        let credentials = Credentials(["books": Credential(hosts: ["books.test"], .basic(Login()))])
        let server = GatedServer { _, number in .text("\(number)", 200, ["Cache-Control": "max-age=60"]) }
        let network = server.network(cache: ResponseCache(isShared: true), credentials: credentials)
        let http = HTTPClient(network).relative(to: Self.books)
        for name in ["ann", "bob"] {
            try await network.signIn("books", as: name, with: ["user": name, "password": "whale"])
        }
        for (number, name) in [(1, "ann"), (2, "bob"), (1, "ann")] {
            var list = endpoint(.http(in: .memory))
            (list.options.credential, list.options.account) = ("books", name)
            #expect(try await http.load(list) == "\(number)")
            #expect(try await http.load(list) == "\(number)")
        }
    }

    @Test(arguments: [
        CachePolicy.memory(for: .seconds(60)), .disk(for: .seconds(60)), .http, .http(in: .memory),
        .staleWhileRevalidate(.seconds(60)), .staleIfError(.seconds(60)),
    ])
    func `no response reaches another sender`(policy: CachePolicy) async throws {
        func login(_ user: String) -> Credential {
            Credential(hosts: ["books.test"], .basic(Login(user: Secret(user), password: "whale")))
        }
        let server = GatedServer { request, _ in
            let names = ["Authorization", "Cookie", "X-API-Key"].compactMap { request.headers[$0] }
            return .text(names.joined(), 200, ["Cache-Control": "max-age=60"])
        }
        let http = server.client(credentials: Credentials(["ann": login("ann"), "bob": login("bob")]))
        var senders: [(Endpoint<String>, String)] = []
        for (name, proof) in [("ann", "Basic YW5uOndoYWxl"), ("bob", "Basic Ym9iOndoYWxl")] {
            var list = endpoint(policy)
            list.options.credential = name
            senders.append((list, proof))
        }
        for name in ["Authorization", "Cookie", "X-API-Key"] {
            for value in ["a", "b"] {
                var list = endpoint(policy)
                list.headers[name] = value
                senders.append((list, value))
            }
        }
        senders.append((endpoint(policy), ""))
        for _ in 0..<2 {
            for (list, proof) in senders { #expect(try await http.load(list) == proof) }
        }
        // A server that fails is no reason to show the data of another sender.
        server.clock.advance(by: .seconds(30))
        server.answers { _, _ in throw BackplaneError(.networkFailed, "down") }
        for (list, proof) in senders { if let text = try? await http.load(list) { #expect(text == proof) } }
    }

    @Test func `another sign-in of an account finds nothing of the former one`() async throws {
        let credentials = Credentials(["books": Credential(hosts: ["books.test"], .basic(Login()))])
        let server = GatedServer(), network = server.network(credentials: credentials)
        let http = HTTPClient(network).relative(to: Self.books)
        var list = endpoint(.memory(for: .seconds(60)))
        (list.options.credential, list.options.account) = ("books", "ann")
        try await network.signIn("books", as: "ann", with: ["user": "ann", "password": "whale"])
        #expect(try await http.load(list) == "1")
        #expect(try await http.load(list) == "1")
        try await network.signIn("books", as: "ann", with: ["user": "ann", "password": "whale"])
        #expect(try await http.load(list) == "2")
    }

    @Test func `variants of a response are stored side by side`() async throws {
        let server = GatedServer { request, number in
            .text(
                "\(request.headers["Accept-Language"] ?? "") \(number)", 200,
                ["Vary": "Accept-Language", "Cache-Control": "max-age=60"])
        }
        let http = server.client()
        for (language, text) in [("de", "de 1"), ("en", "en 2"), ("de", "de 1"), ("en", "en 2"), ("fr", "fr 3")] {
            var list = endpoint(.http(in: .memory))
            list.headers["Accept-Language"] = language
            #expect(try await http.load(list) == text)
        }
    }

    @Test func `a stale response answers at once, and the next load has the new one`() async throws {
        let server = GatedServer(), http = server.client(),
            list = endpoint(.staleWhileRevalidate(.seconds(60), in: .memory))
        #expect(try await http.load(list) == "1")
        server.clock.advance(by: .seconds(30))
        server.gate.close()
        #expect(try await http.load(list) == "1")
        #expect(try await http.load(list) == "1")
        try await server.gate.arrivals(2)
        server.gate.open()
        _ = try await server.requests.first(2)
        var value = "1"
        while value == "1" {
            value = try await http.load(list)
            await Task.yield()
        }
        #expect(value != "1")
        server.clock.advance(by: .seconds(61))
        server.answers { _, _ in .text("whole") }
        #expect(try await http.load(list) == "whole")
    }

    @Test func `a response answers in place of a server that fails`() async throws {
        let server = GatedServer(), http = server.client(), list = endpoint(.staleIfError(.seconds(60), in: .memory))
        #expect(try await http.load(list) == "1")
        server.answers { _, _ in .text("down", 503) }
        #expect(try await http.load(list) == "1")
        server.answers { _, _ in throw BackplaneError(.networkFailed, "the connection was refused") }
        let late = try await http.loadWithResponse(list, Call())
        #expect(late.value == "1" && late.response.source == .memory)
        server.clock.advance(by: .seconds(61))
        let error = await http.failure(of: list)
        #expect(error?.code == .networkFailed)
    }

    @Test func `a response answers in place of a server that does not answer in time`() async throws {
        let server = GatedServer(), http = server.client()
        var list = endpoint(.staleIfError(.seconds(60), in: .memory)), other = endpoint("other", list.options.cache)
        (list.timeout, other.timeout) = (.seconds(5), .seconds(5))
        #expect(try await http.load(list) == "1")
        server.gate.close()
        let late = list.load(on: http), lost = other.load(on: http)
        try await server.gate.arrivals(3)
        server.clock.advance(by: .seconds(5))
        #expect(try await late.value == "1")
        let error = await #expect(throws: BackplaneError.self) { try await lost.value }
        #expect(error?.code == .networkTimeout, "nothing is stored")
        server.gate.open()
    }

    @Test func `a change on the server drops what it concerns, for every sender`() async throws {
        let server = GatedServer(), http = server.client()
        let list = endpoint("books", .memory(for: .seconds(60))), other = endpoint("loans", .memory(for: .seconds(60)))
        func texts() async throws -> [String] { [try await http.load(list), try await http.load(other)] }
        #expect(try await texts() == ["1", "2"])
        var order = Endpoint<String>("POST", "books")
        order.body = .text("whale")
        #expect(try await http.load(order) == "3")
        #expect(try await texts() == ["4", "2"])
        server.answers { _, _ in .text("down", 500) }
        _ = try? await http.load(order)
        #expect(try await http.load(list) == "4")
    }

    @Test func `what was requested before a change is not stored after it, and answers nobody else`() async throws {
        let held = TestGate()
        let server = GatedServer { request, number in
            if number == 1 { try await held.pass() }
            return .text("\(number)")
        }
        let http = server.client(), list = endpoint("books", .memory(for: .seconds(60)))
        let old = list.load(on: http)
        try await held.arrivals()
        var order = Endpoint<String>("POST", "books")
        order.body = .text("whale")
        #expect(try await http.load(order) == "2")
        #expect(try await http.load(list) == "3")
        held.open()
        #expect(try await old.value == "1")
        #expect(try await http.load(list) == "3")
    }

    @Test func `neither redirected responses nor cookies are stored`() async throws {
        let server = GatedServer { request, number in
            request.url.hasSuffix("/latest")
                ? .text("", 302, ["Location": "/v\(number)", "Cache-Control": "no-store"])
                : .text(request.url, 200, ["Cache-Control": "max-age=600", "Set-Cookie": "id=\(number)"])
        }
        let http = server.client()
        #expect(try await http.load(endpoint("latest", .http(in: .memory))) == "http://books.test/v1")
        #expect(try await http.load(endpoint("latest", .http(in: .memory))) == "http://books.test/v3")
        let first = try await http.loadWithResponse(endpoint("list", .http(in: .memory)), Call())
        let second = try await http.loadWithResponse(endpoint("list", .http(in: .memory)), Call())
        #expect(first.response.headers["Set-Cookie"] == "id=5" && second.response.headers["Set-Cookie"] == nil)
        #expect(second.response.source == .memory)
    }

    @Test func `a stored response that an endpoint rejects is loaded anew`() async throws {
        let server = GatedServer { _, number in .text(number == 1 ? "oops" : "\(number)") }, http = server.client()
        #expect(try await http.load(endpoint(.memory(for: .seconds(60)))) == "oops")
        var numbers = Endpoint<Int>("GET", "list")
        numbers.options.cache = .memory(for: .seconds(60))
        #expect(try await http.load(numbers) == 2)
        #expect(try await http.load(endpoint(.memory(for: .seconds(60)))) == "2")
    }

    @Test func `responses are flushed by endpoint, prefix and tag, and all at once`() async throws {
        let server = GatedServer(), cache = ResponseCache(), http = server.client(cache: cache)
        var list = endpoint("books", .memory(for: .seconds(60)))
        list.name = "List"
        list.options.cacheTags = ["shelf"]
        let loan = endpoint("loans/7", .memory(for: .seconds(60)))
        func texts() async throws -> [String] { [try await http.load(list), try await http.load(loan)] }
        #expect(try await texts() == ["1", "2"])
        #expect(try await cache.flush(CacheExpiry(endpoint: "List")) == 1)
        #expect(try await texts() == ["3", "2"])
        #expect(try await cache.flush(CacheExpiry(prefix: "http://books.test/loans")) == 1)
        #expect(try await texts() == ["3", "4"])
        #expect(try await cache.flush(CacheExpiry(tag: "shelf")) == 1)
        #expect(try await texts() == ["5", "4"])
        #expect(try await cache.flush(CacheExpiry(endpoint: "List", tag: "other")) == 0)
        #expect(try await cache.flush(.all) == 2)
        #expect(try await texts() == ["6", "7"])
    }

    @Test func `the least recently used responses go first`() async throws {
        let server = GatedServer(), http = server.client(cache: ResponseCache(memory: 2_000))
        for (path, text) in [
            ("a", "1"), ("b", "2"), ("a", "1"), ("c", "3"), ("a", "1"), ("d", "4"), ("a", "1"), ("b", "5"),
        ] {
            let load = endpoint(path, .memory(for: .seconds(60)))
            #expect(try await http.load(load) == text)
        }
    }

    @Test func `a provider that throws or does not answer costs requests, and no load`() async throws {
        struct Broken: CacheProvider {
            var hangs: Bool
            func fail() async throws {
                guard hangs else { throw BackplaneError(.networkCache, "out of order") }
                try await TestGate().pass()
            }
            func load(_ key: String) async throws -> CachedResponse? {
                try await fail()
                return nil
            }
            func store(_ response: CachedResponse, for key: String) async throws { try await fail() }
            func removeExpired(_ rule: CacheExpiry) async throws -> Int {
                try await fail()
                return 0
            }
        }
        let reports = Recording<BackplaneError>()
        let server = GatedServer(), cache = ResponseCache(disk: Broken(hangs: false)) { reports.add($0) }
        let http = server.client(cache: cache), list = endpoint(.disk(for: .seconds(60)))
        #expect(try await http.load(list) == "1")
        #expect(try await reports.first(1).map(\.message) == ["out of order"])
        let error = await #expect(throws: BackplaneError.self) { try await cache.flush(.all) }
        #expect(error?.code == .networkCache)
        let hanging = server.client(cache: ResponseCache(disk: Broken(hangs: true)))
        #expect(try await hanging.load(list) == "2")
    }
}

/// A server in memory that answers with what a test says, and records the requests.
final class GatedServer: Sendable {
    typealias Answer = @Sendable (_ request: HTTPRequest, _ number: Int) async throws -> HTTPStreamedResponse
    let requests = Recording<HTTPRequest>()
    /// The gate that requests pass before they are answered.
    let gate = TestGate(isOpen: true)
    let clock = TestClock()
    private let answer: Mutex<Answer>

    init(_ answer: @escaping Answer = { _, number in .text("\(number)") }) { self.answer = Mutex(answer) }

    var count: Int { requests.all.count }

    func answers(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

    var executor: MemoryExecutor {
        MemoryExecutor { [self] request, _ in
            requests.add(request)
            let number = count
            try await gate.pass()
            return try await answer.withLock { $0 }(request, number)
        }
    }

    func network(
        cache: ResponseCache? = ResponseCache(), credentials: Credentials = Credentials()
    ) -> HTTPPipeline {
        HTTPPipeline(
            [executor], retries: Retries(clock: clock, date: { [clock] in clock.date }, random: { 0 }),
            credentials: credentials, cache: cache)
    }

    func client(cache: ResponseCache? = ResponseCache(), credentials: Credentials = Credentials()) -> HTTPClient {
        HTTPClient(network(cache: cache, credentials: credentials)).relative(to: "http://books.test")
    }
}

extension HTTPStreamedResponse {
    static func text(_ text: String, _ status: Int = 200, _ headers: HTTPHeaders = [:]) -> HTTPStreamedResponse {
        HTTPStreamedResponse(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }
}

extension HTTPClient {
    /// The error of a load; `nil` if it succeeds.
    func failure<Value>(of endpoint: Endpoint<Value>) async -> BackplaneError? {
        do throws(BackplaneError) {
            _ = try await load(endpoint)
            return nil
        } catch {
            return error
        }
    }
}
