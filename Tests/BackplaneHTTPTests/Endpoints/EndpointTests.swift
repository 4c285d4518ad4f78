import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// Loads of endpoints over sockets: requests, responses of all kinds, and responses that are not what was expected.
@Suite(.timeLimit(.minutes(5)))
struct EndpointTests {
    struct Book: Codable, Sendable, Equatable {
        var title: String
    }
    /// A type with a rule of its own, which could be decoded as well.
    struct Quota: ParsedResponse, Decodable, Equatable {
        var left: Int

        static func parse(_ response: HTTPResponse) throws -> Quota {
            guard let left = response.headers["X-Left"].flatMap({ Int($0) }) else { throw Missing() }
            return Quota(left: left)
        }
    }
    struct Missing: Error {}
    /// A decoder of lines of titles.
    struct LineDecoder: ResponseDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let titles = String(decoding: data, as: UTF8.self).split(separator: "\n").map { ["title": String($0)] }
            return try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(titles))
        }
    }

    /// A type with a decoder of its own.
    struct Title: DecodedResponse, Equatable {
        var title: String
        static var decoder: any ResponseDecoder { LineDecoder() }
    }

    @Test(arguments: ClientKind.all)
    func `the decoder is the endpoint's, or else the type's, or else the client's`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            let isJSON = request.target == "/json"
            connection.answer("200 OK", body: Array((isJSON ? #"[{"title":"Typee"}]"# : "Moby-Dick\nOmoo").utf8))
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.decoder = JSONDecoder()
            let titles = try await http.load(Endpoint<[Title]>("GET", "lines"), call)
            #expect(titles == [Title(title: "Moby-Dick"), Title(title: "Omoo")])
            var json = Endpoint<[Title]>("GET", "json")
            json.decoder = JSONDecoder()
            #expect(try await http.load(json, call) == [Title(title: "Typee")])
        }
    }

    @Test(arguments: ClientKind.all)
    func `responses are loaded into types`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            switch request.target {
            case "/v2/books": connection.answer("200 OK", body: Array(#"[{"title":"Moby-Dick"}]"#.utf8))
            case "/v2/lines": connection.answer("200 OK", body: Array("Moby-Dick\nOmoo".utf8))
            case "/v2/nothing": connection.answer("204 No Content")
            default: connection.answer("201 Created", [("X-Left", "3")], body: Array("whale".utf8))
            }
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url("/v2"))
            #expect(try await http.load(Endpoint<[Book]>("GET", "books"), call) == [Book(title: "Moby-Dick")])
            #expect(try await http.load(Endpoint<String>("POST", "text"), call) == "whale")
            #expect(try await http.load(Endpoint<[UInt8]>("GET", "text"), call) == Array("whale".utf8))
            #expect(try await http.load(Endpoint<Data>("GET", "text"), call) == Data("whale".utf8))
            #expect(try await http.load(Endpoint<Nothing>("DELETE", "nothing"), call) == Nothing())
            #expect(try await http.load(Endpoint<Quota>("GET", "text"), call) == Quota(left: 3))
            http.defaults.decoder = LineDecoder()
            #expect(try await http.load(Endpoint<[Book]>("GET", "lines"), call).count == 2)
        }
    }

    @Test(arguments: ClientKind.all)
    func `a request has the endpoint's query, header fields and body`(kind: ClientKind) async throws {
        let received = Recording<ReceivedRequest>()
        let server = try TestServer { request, connection in
            received.add(request)
            connection.answer("200 OK", body: request.body)
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url("/v2?key=1"))
            http.defaults.headers = ["X-Client": "shelf", "X-Kind": "client"]
            let endpoint = Endpoint<Book>(
                "PUT", "books/7", query: ["q": "a b"], headers: ["X-Kind": "endpoint"],
                body: try .json(Book(title: "Omoo")))
            #expect(try await http.load(endpoint, call) == Book(title: "Omoo"))
        }
        let request = received.all[0]
        #expect(request.method == "PUT" && request.target == "/v2/books/7?key=1&q=a%20b")
        #expect(request["X-Client"] == "shelf" && request["X-Kind"] == "endpoint")
        #expect(request["Content-Type"] == "application/json")
    }

    @Test(arguments: ClientKind.all)
    func `a response that is not what was expected is an error that says so`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            switch request.target {
            case "/empty": connection.answer("204 No Content")
            case "/html":
                connection.answer(
                    "200 OK", [("Content-Type", "text/html")], body: Array("<!DOCTYPE html>\r\n<p>Sign in".utf8))
            case "/incomplete": connection.answer("200 OK", body: Array(#"[{"title":"Omoo"},{"name":1}]"#.utf8))
            default: connection.answer("404 Not Found", body: Array("no such book".utf8))
            }
        }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            func error(_ path: String) async -> BackplaneError? {
                await #expect(throws: BackplaneError.self) {
                    let books = try await http.load(Endpoint<[Book]>("GET", path), call)
                    return books
                }
            }
            let missing = await error("none?token=secret")
            #expect(missing?.code == .networkStatus && missing?.httpStatus == 404)
            #expect(missing?.message == "the response has the status 404; expected 200 to 299")
            #expect(missing?.location == server.url("/none"), "the query may contain secrets")
            let empty = await error("empty")
            #expect(empty?.code == .networkEmpty && empty?.httpStatus == 204)
            let html = await error("html")
            #expect(html?.code == .networkUnparsable && html?.httpStatus == 200)
            #expect(html?.message.contains("of type `text/html`") == true)
            #expect(html?.message.contains("begins with `<!DOCTYPE html> <p>Sign in`") == true)
            let incomplete = await error("incomplete")
            #expect(
                incomplete?.message.contains("the key `title` is missing at `1`") == true,
                "\(String(describing: incomplete))")
            #expect(incomplete?.message.contains("Omoo") == false, "values may be secret")
            let unparsed = await #expect(throws: BackplaneError.self) {
                var endpoint = Endpoint<Quota>("GET", "none")
                endpoint.validStatuses = nil
                return try await http.load(endpoint, call)
            }
            #expect(unparsed?.code == .networkUnparsable && unparsed?.httpStatus == 404)
        }
    }

    @Test(arguments: ClientKind.all)
    func `a check rejects a value after it was decoded`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array(#"{"title":""}"#.utf8)) }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<Book>("GET", "")
            endpoint.verdict = { book, response in
                #expect(response.status == 200 && response.timings.attempts == 1)
                return book.title.isEmpty ? .reject("the title is empty") : .accept
            }
            let error = await error { try await http.relative(to: server.url()).load(endpoint, call) }
            #expect(error?.code == .networkRejected && error?.httpStatus == 200)
            #expect(error?.message == "the response was rejected: the title is empty")
            endpoint.verdict = { _, _ in throw BackplaneError(.callInvalidInput, "the shelf is full") }
            let thrown = await #expect(throws: BackplaneError.self) {
                let book = try await http.relative(to: server.url()).load(endpoint, call)
                return book
            }
            #expect(thrown?.networkNumber == 8 && thrown?.message == "the response was rejected: the shelf is full")
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `the time limit of a load is for all of it`(kind: ClientKind) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("GET", "")
            endpoint.timeout = .milliseconds(50)
            endpoint.retry = RetryPolicy()
            let error = await error { try await http.relative(to: server.url()).load(endpoint, call) }
            #expect(error?.code == .networkTimeout)
            #expect(error?.message.hasPrefix("the load did not end within 0.05 seconds, its time limit: ") == true)
        }
    }
}

/// The URL of an endpoint: a base URL, a path and a query become one.
struct EndpointURLTests {
    private func url(
        _ base: String?, _ path: String, _ query: KeyValuePairs<String, String?> = [:], full: Bool = false
    ) throws -> String {
        var endpoint = Endpoint<String>("GET", path, query: query)
        endpoint.allowsFullURL = full
        return try endpoint.request(EndpointDefaults(baseURL: base)).url
    }

    @Test(arguments: [
        ("http://h", "books", "http://h/books"), ("http://h/", "books", "http://h/books"),
        ("http://h", "/books", "http://h/books"), ("http://h//", "//books", "http://h/books"),
        ("http://h/v2", "books/1", "http://h/v2/books/1"), ("http://h/v2/", "books/", "http://h/v2/books/"),
        ("http://h/v2", "", "http://h/v2"), ("http://h/v2?key=1", "books", "http://h/v2/books?key=1"),
        ("http://h?key=1", "books?page=2", "http://h/books?key=1&page=2"),
        ("http://h#part", "books#part", "http://h/books"),
        ("http://h", "white whale/ü", "http://h/white%20whale/%C3%BC"),
        ("http://h", "a%2Fb", "http://h/a%2Fb"), ("http://h", "a;b/..c/.d", "http://h/a;b/..c/.d"),
        ("http://h", "a:b", "http://h/a:b"),
        ("http://h", "//evil.test/books", "http://h/evil.test/books"),
        ("http://h", "?q=http://other.test", "http://h?q=http://other.test"),
        ("http://h/v2/", "", "http://h/v2/"), ("http://h/v2/", "?q=1", "http://h/v2/?q=1"),
        ("http://h", "caf%C3%A9 menu|[1]é%", "http://h/caf%C3%A9%20menu%7C%5B1%5D%C3%A9%25"),
        ("http://h/a b%20", "c?q=%C3%A9 {1}", "http://h/a%20b%20/c?q=%C3%A9%20%7B1%7D"),
        ("http://bücher.example", "b", "http://xn--bcher-kva.example/b"),
    ])
    func `base and path are joined by exactly one slash, and both queries survive`(
        base: String, path: String, expected: String
    ) throws {
        #expect(try url(base, path) == expected)
    }

    @Test func `a query is encoded in its order, and has no fields without a value`() throws {
        let found = try url("http://h?key=1", "s?a=b", ["q": "white & whale+", "none": nil, "q": "ü=/?", "e": ""])
        #expect(found == "http://h/s?key=1&a=b&q=white%20%26%20whale%2B&q=%C3%BC%3D%2F%3F&e=")
    }

    @Test func `a full URL is loaded only if it is allowed`() throws {
        for path in ["http://other.test/a", "HTTPS://other.test", "file:///etc/passwd"] {
            let error = #expect(throws: BackplaneError.self) {
                let found = try url("http://h", path)
                return found
            }
            #expect(error?.code == .networkInvalidRequest && error?.message.contains("allowsFullURL") == true)
        }
        #expect(
            try url("http://h?key=1", "http://other.test/a?b=c", ["d": "e"], full: true)
                == "http://other.test/a?b=c&d=e")
        #expect(try url(nil, "http://other.test/a/../b", full: true) == "http://other.test/a/../b")
        #expect(try url("http://h", "books", full: true) == "http://h/books")
    }

    @Test(arguments: [
        "../admin", "books/../../admin", "books/.", "%2e%2E/admin", "books/.%2e", "books/..%2Fadmin", "..%5cadmin",
        "..\\admin", "books/..;a=b/admin", "..;", "books/../\u{301}admin", "..#\u{301}", "..?\u{301}",
        "%252e%252e/admin", "books/%25252E./admin", "..%3badmin", "books/..%3Ba=b/admin", "%%32e%2e", "a%2525252f..",
        "a%252525252525252541",
    ])
    func `a path that leads out of the base URL is refused`(path: String) throws {
        let error = #expect(throws: BackplaneError.self) {
            let found = try url("http://h/v2", path)
            return found
        }
        #expect(error?.code == .networkInvalidRequest && error?.message.contains("`..`") == true)
    }

    @Test(
        arguments: [
            (["loans", "7"], "http://h/v2/loans/7"),
            (["a/b?c", "50%", "ü #"], "http://h/v2/a%2Fb%3Fc/50%25/%C3%BC%20%23"),
            (["a/../b", "..;", "%2e%2e"], "http://h/v2/a%2F..%2Fb/..%3B/%252e%252e"), ([], "http://h/v2"),
            (["http://other.test"], "http://h/v2/http%3A%2F%2Fother.test"), (["loans", ""], nil), (["", "loans"], nil),
            ([""], nil),
            ([".."], nil), (["loans", "."], nil),
            ([String(repeating: "x", count: 10_000)], "http://h/v2/" + String(repeating: "x", count: 10_000)),
        ] as [([String], String?)])
    func `every value of an array is one segment`(segments: [String], expected: String?) throws {
        let defaults = EndpointDefaults(baseURL: "http://h/v2"), endpoint = Endpoint<String>("GET", segments)
        if let expected { return #expect(try endpoint.request(defaults).url == expected) }
        let error = #expect(throws: BackplaneError.self) {
            let request = try endpoint.request(defaults)
            return request.url
        }
        #expect(error?.code == .networkInvalidRequest)
    }

    @Test func `segments are written where the path is, for every type of response`() throws {
        let id = "a/b", defaults = EndpointDefaults(baseURL: "http://h")
        #expect(try Endpoint<[Int]>("GET", ["loans", id]).request(defaults).url == "http://h/loans/a%2Fb")
        #expect(try Endpoint<Nothing>("delete", ["loans", id]).request(defaults).method == "DELETE")
        var file = Endpoint<DownloadedFile>("GET", ["files", id], to: "b")
        #expect(try file.request(defaults).url == "http://h/files/a%2Fb")
        file.path = "../b"
        #expect(throws: BackplaneError.self) {
            let request = try file.request(defaults)
            return request.url
        }
    }

    @Test func `a path without a base URL is refused`() {
        let error = #expect(throws: BackplaneError.self) {
            let found = try url(nil, "books?token=secret")
            return found
        }
        #expect(error?.code == .networkInvalidRequest && error?.message.contains("no base URL") == true)
        #expect(error?.location == "books", "the query may contain secrets")
    }

    @Test func `header fields of the client go to the origin of its base URL only, and those of the endpoint first`()
        throws
    {
        var defaults = EndpointDefaults(baseURL: "http://h:80/v2")
        defaults.headers = ["Authorization": "secret", "Accept": "a"]
        var endpoint = Endpoint<String>("GET", "books", headers: ["accept": "b"])
        #expect(try endpoint.request(defaults).headers == ["accept": "b", "Authorization": "secret"])
        endpoint.allowsFullURL = true
        for (path, isOwn) in [
            ("http://H/x", true), ("http://other/x", false), ("http://h:81/x", false), ("https://h/x", false),
        ] {
            endpoint.path = path
            #expect((try endpoint.request(defaults).headers["Authorization"] != nil) == isOwn, "\(path)")
            defaults.baseURL = nil
            #expect(try endpoint.request(defaults).headers["Authorization"] == nil, "\(path)")
            defaults.baseURL = "http://h:80/v2"
        }
    }
}

/// The errors of loads: their numbers, the bodies that they keep, and the types that these are decoded into.
@Suite(.timeLimit(.minutes(5)))
struct EndpointErrorTests {
    /// What the server says about a refusal.
    struct Refusal: ComponentError, Decodable {
        var error: String, message: String
        var code: String { error }
        var details: [String: String] { ["by": "server", "status": "1"] }
    }

    private func failure(_ body: () async throws -> Void) async throws -> BackplaneError {
        try #require(await #expect(throws: BackplaneError.self) { try await body() })
    }

    @Test func `each kind of error has a number, which it keeps`() {
        let numbers: [(BackplaneError.Code, Int)] = [
            (.networkFailed, 1), (.networkUnparsable, 2), (.networkEmpty, 3), (.networkInvalidRequest, 4),
            (.callCancelled, 5), (.networkStatus, 7), (.networkRejected, 8), (.componentFailed, 9), (.networkFile, 10),
            (.networkRefused, 11), (.networkTimeout, 12), (.networkTooLarge, 13), (.networkUnsupported, 14),
            (.networkBody, 15), (.networkRedirect, 16), (.networkPages, 17), (.networkInsecure, 18),
            (.networkMalformed, 19), (.networkShutDown, 20), (.callDeadline, 21), (.networkPinMismatch, 24),
        ]
        for (code, number) in numbers { #expect(BackplaneError(code, "").networkNumber == number, "\(code)") }
        #expect(numbers.filter { BackplaneError($0.0, "").isConnectivity }.map(\.1) == [1, 12])
    }

    @Test(arguments: ClientKind.all)
    func `the body of a failed response is kept up to a limit, and no description shows it`(
        kind: ClientKind
    ) async throws {
        let server = try TestServer { request, connection in
            let body = request.target == "/bytes" ? [0xFF, 0xFE] : Array("a secret \(request.target)".utf8)
            connection.answer("409 Conflict", body: body)
        }
        let files = try TestFolder(), folder = files.path
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            let error = try await failure { _ = try await http.load(Endpoint<String>("GET", "text"), call) }
            #expect(error.code == .networkStatus && error.httpStatus == 409 && !error.isConnectivity)
            #expect(error.httpBody == Array("a secret /text".utf8))
            for text in ["\(error)", error.detailedDescription] { #expect(!text.contains("secret")) }
            #expect(error.expandedDescription.contains("a secret /text"))
            let bytes = try await failure { _ = try await http.load(Endpoint<Nothing>("GET", "bytes"), call) }
            #expect(bytes.httpBody == [0xFF, 0xFE])
            var limited = Endpoint<String>("GET", "text")
            limited.failureLimit = 8
            let beginning = try await failure { _ = try await http.load(limited, call) }
            #expect(beginning.httpBody == Array("a secret".utf8))
            limited.failureLimit = 0
            #expect(try await failure { _ = try await http.load(limited, call) }.httpBody == nil)
            let path = kind.isInPlugin ? "whale" : folder + "/whale"
            let download = Endpoint<DownloadedFile>("GET", "text", to: path)
            let file = try await failure { _ = try await http.load(download, call) }
            #expect(file.httpStatus == 409 && file.httpBody == Array("a secret /text".utf8))
            // What could not be decoded is kept as well.
            var number = Endpoint<Int>("GET", "text")
            number.validStatuses = nil
            let unparsable = try await failure { _ = try await http.load(number, call) }
            #expect(unparsable.code == .networkUnparsable && unparsable.httpBody == Array("a secret /text".utf8))
        }
    }

    @Test(arguments: ClientKind.all)
    func `what a server says about a failure is decoded, and survives a wire`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            let body = request.target == "/html" ? "<html>" : #"{"error":"loan.taken","message":"it is lent out"}"#
            connection.answer("409 Conflict", body: Array(body.utf8))
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url()), loan = Endpoint<Nothing>("POST", "loans")
            loan.failure = .decoded(Refusal.self)
            for isDefault in [false, true] {
                if isDefault { (http.defaults.failure, loan.failure) = (loan.failure, nil) }
                let error = try await failure { _ = try await http.load(loan, call) }
                let crossed = try JSONDecoder().decode(BackplaneError.self, from: try JSONEncoder().encode(error))
                #expect(crossed == error)
                #expect(crossed.code == .networkStatus && crossed.message == "it is lent out")
                #expect(crossed.failure?.code == "loan.taken" && crossed.failure?.details["by"] == "server")
                #expect(crossed.httpStatus == 409 && crossed.networkNumber == 7)
                #expect(crossed.httpBody?.isEmpty == false)
            }
            let plain = try await failure { _ = try await http.load(Endpoint<Nothing>("POST", "html"), call) }
            #expect(plain.failure?.code == "http" && plain.httpBody == Array("<html>".utf8))
        }
    }

    @Test(arguments: ClientKind.all)
    func `a problem explains itself, and a precondition that fails is a conflict`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            if request["If-Match"] != nil {
                return connection.answer("412 Precondition Failed", [("ETag", "\"2\"")], body: Array("newer".utf8))
            }
            let body =
                #"{"type": "about:blank", "code": "loan.taken", "title": "Conflict", "detail": "it is lent out"}"#
            connection.answer("409 Conflict", [("Content-Type", "application/problem+json")], body: Array(body.utf8))
        }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            let problem = try await failure { _ = try await http.load(Endpoint<Nothing>("GET", "loans"), call) }
            #expect(problem.code == .networkStatus && problem.message == "it is lent out")
            #expect(problem.failure?.code == "loan.taken" && problem.httpStatus == 409)
            let write = Endpoint<Nothing>("PUT", "loans", headers: ["If-Match": "\"1\""])
            let conflict = try await failure { _ = try await http.load(write, call) }
            #expect(conflict.code == .networkConflict && conflict.networkNumber == 28 && conflict.httpStatus == 412)
            #expect(conflict.httpBody == Array("newer".utf8) && conflict.failure?.details["etag"] == "\"2\"")
        }
    }
}
