import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
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
            var lines = Endpoint<[Book]>("GET", "lines")
            lines.decoder = LineDecoder()
            #expect(try await http.load(lines, call).count == 2)
            lines.decoder = nil
            http.defaults.decoder = LineDecoder()
            #expect(try await http.load(lines, call).count == 2)
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
            let error = await #expect(throws: BackplaneError.self) {
                let book = try await http.relative(to: server.url()).load(endpoint, call)
                return book
            }
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
            let error = await #expect(throws: BackplaneError.self) {
                let text = try await http.relative(to: server.url()).load(endpoint, call)
                return text
            }
            #expect(error?.code == .networkTimeout)
            #expect(error?.message.hasPrefix("the load did not end within 0.05 seconds, its time limit: ") == true)
        }
    }
}
