import Backplane
import BackplaneNetwork
import BackplaneRoutes
import FoundationEssentials
import Testing

@Suite struct RouteMatcherTests {
    private static let matcher = RouteMatcher([
        .init("shelf", .of("GET /", "GET /books", "POST /books", "GET /books/:id", "GET /books/new")),
        .init("files", .of("GET /files/*path", "GET /:anything/:else", "GET /books/new/pages")),
        .init("api", prefix: "/api", .of("GET /", "DELETE /books/:id", "GET /*rest")),
        .init("other", .of("DELETE /books/:name")),
    ])

    @Test(arguments: [
        ("GET", "/", "shelf GET /"),
        ("GET", "/books", "shelf GET /books"),
        ("GET", "/books/", "shelf GET /books"),
        ("POST", "/books", "shelf POST /books"),
        ("HEAD", "/books", "shelf GET /books"),
        ("GET", "/books/7", "shelf GET /books/:id [id=7]"),
        ("GET", "/books/new", "shelf GET /books/new"),
        ("DELETE", "/books/new", "other DELETE /books/:name [name=new]"),
        ("GET", "/books/new/pages", "files GET /books/new/pages"),
        ("GET", "/papers/7", "files GET /:anything/:else [anything=papers else=7]"),
        ("GET", "/files/a", "files GET /files/*path [path=a]"),
        ("GET", "/files/a/b.txt", "files GET /files/*path [path=a/b.txt]"),
        ("GET", "/api", "api GET /"),
        ("GET", "/api/x/y/z", "api GET /*rest [rest=x/y/z]"),
        ("DELETE", "/api/books/7", "api DELETE /books/:id [id=7]"),
    ])
    func `a request has the most specific route of its method`(method: String, path: String, expected: String) {
        #expect(Self.matcher.match(method, path).summary == expected)
    }

    @Test(arguments: [
        ("/books/moby%20dick", "moby dick"), ("/books/a%2Fb", "a/b"), ("/books/caf%C3%A9", "café"),
        ("/books/café", "café"), ("/books/a+b", "a+b"), ("/books/%zz", "%zz"), ("/books/..a", "..a"),
    ])
    func `parameters arrive decoded`(path: String, id: String) {
        #expect(Self.matcher.match("GET", path).summary == "shelf GET /books/:id [id=\(id)]")
    }

    @Test(arguments: [
        "/books/..", "/../books", "/books/.", "/books/%2e%2e", "/books/..%2Fsecret", "/files/a/../b", "/books/%ff",
        "/books/%C3", "/books/a%00b", "/books/\u{FFFD}", "*", "books", "",
    ])
    func `a malformed path is refused`(path: String) {
        #expect(Self.matcher.match("GET", path).summary == "400")
    }

    @Test(arguments: [
        "/nothing", "/books/7/8/9", "//books", "/books//", "/files", "/files/a%2Fb/c",
    ])
    func `a path without a route is not found`(path: String) {
        #expect(Self.matcher.match("GET", path).summary == "404")
    }

    @Test(arguments: [("/books", "GET, HEAD, POST"), ("/books/7", "DELETE, GET, HEAD"), ("/files/a/b/c", "GET, HEAD")])
    func `a method without a route is not allowed, and the others are listed`(path: String, methods: String) {
        let problem = Self.matcher.match("PUT", path).problem
        #expect(problem?.status == 405)
        #expect(problem?.headers["Allow"] == methods)
    }

    @Test(arguments: [
        ("GET /books/:id", "GET /books/:name", true), ("GET /*rest", "GET /*path", true), ("GET /", "GET /", true),
        ("GET /books/:id", "PUT /books/:id", false), ("GET /books/:id", "GET /books/new", false),
        ("GET /books/:id", "GET /books/*id", false),
    ])
    func `routes of one method and equivalent patterns clash`(one: String, other: String, clash: Bool) {
        let matcher = RouteMatcher([.init("A", .of(one)), .init("B", .of(other))])
        let names = matcher.clashes.map { "\($0.first.owner) \($0.first.route.name), \($0.second.route.name)" }
        #expect(names == (clash ? ["A \(one), \(other)"] : []))
    }

    @Test func `prefixes separate routes, and join others`() {
        func clashes(_ prefix: String, _ one: String, _ other: String) -> Int {
            RouteMatcher([.init("A", prefix: prefix, .of(one)), .init("B", .of(other))]).clashes.count
        }
        #expect(clashes("/api", "GET /books", "GET /books") == 0)
        #expect(clashes("/api", "GET /books", "GET /api/books") == 1)
    }

    @Test func `the preflight requests of a path have several owners and no clash`() {
        let annotation = RouteAnnotation(routes: [.init("GET", "/books")], preflights: ["/books"])
        let other = RouteAnnotation(routes: [.init("POST", "/books")], preflights: ["/books"])
        let matcher = RouteMatcher([.init("A", annotation), .init("B", other)])
        #expect(matcher.clashes.isEmpty)
        #expect(matcher.match("OPTIONS", "/books").summary == "A OPTIONS /books")
    }

    @Test func `a pattern that is not valid is reported`() {
        let matcher = RouteMatcher([.init("A", .of("GET books", "GET /books"))])
        #expect(
            matcher.problems == ["`GET books`: expected a pattern that begins with `/`, found `books`"])
        #expect(matcher.match("GET", "/books").summary == "A GET /books")
    }

    @Test(arguments: [
        ("/", "/"), ("/a", "/a"), ("/:id", "/:"), ("/a/:id/*rest", "/a/:/*"), ("/é", "/é"), ("/a:b", "/a:b"),
    ])
    func `a pattern has a shape without names`(text: String, shape: String) throws {
        #expect(try RoutePattern(text).shape == shape)
    }

    @Test(arguments: [
        "", "a", "/a/", "//", "/a//b", "/:", "/*", "/:a/:a", "/*a/b", "/:a-b", "/a%20b", "/a b", "/a?b", "/a#b", "/..",
    ])
    func `other patterns are refused`(text: String) {
        #expect(throws: RoutePattern.Invalid.self) { try RoutePattern(text) }
    }
}

extension RouteAnnotation {
    /// An annotation that lists routes such as `GET /books/:id`.
    fileprivate static func of(_ routes: String...) -> RouteAnnotation {
        RouteAnnotation(
            routes: routes.map { route in
                let words = route.split(separator: " ").map { String($0) }
                return RouteDescription(words[0], words[1])
            })
    }
}

extension RouteMatcher.Match {
    /// The owner, the route and the parameters; the status of the problem if there is no route.
    fileprivate var summary: String {
        guard case .found(let entry, let parameters) = self else { return "\(problem?.status ?? 0)" }
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return "\(entry.owner) \(entry.route.name)" + (values.isEmpty ? "" : " [\(values)]")
    }
}

@Suite struct RequestValueTests {
    private struct Search: Decodable, Equatable {
        enum Order: String, Decodable {
            case title, year
        }
        var text: String
        var tags: [String]
        var page: Int?
        var order: Order?
        var since: Date?
    }
    private struct Author: Codable {
        var name: String
        var born: Date
    }
    private struct Book: Codable {
        var title: String
        var pages: Int
        var authors: [Author]
    }

    private func problem(_ body: () throws -> Void) -> RouteProblem? {
        #expect(throws: RouteProblem.self, performing: body)
    }

    // MARK: Parameters

    @Test func `a parameter has the type that is asked for`() throws {
        let id = UUID()
        let request = RouteRequest("GET /:a/:b/:c", parameters: ["a": "7", "b": "\(id)", "c": "1.5"])
        let text = try request.parameter("a")
        let number: Int = try request.parameter("a")
        let uuid: UUID = try request.parameter("b")
        #expect(text == "7")
        #expect(number == 7)
        #expect(uuid == id)
        #expect(try request.parameter("c", as: Double.self) == 1.5)
    }

    @Test func `a parameter of another type is a problem that names it`() {
        let request = RouteRequest("GET /books/:id", parameters: ["id": "x"])
        let number = problem { _ = try request.parameter("id", as: Int.self) }
        #expect(number?.status == 400)
        #expect(number?.fields == ["id": "expected an integer, found `x`"])
        let uuid = problem { _ = try request.parameter("id", as: UUID.self) }
        #expect(uuid?.fields == ["id": "expected a UUID, found `x`"])
    }

    @Test func `a parameter that the pattern lacks is an error of the route`() {
        let thrown = #expect(throws: BackplaneError.self) {
            _ = try RouteRequest("GET /books").parameter("id") as String
        }
        #expect(thrown?.message == "the route `GET /books` has no parameter `id`")
    }

    // MARK: Queries

    @Test func `single fields of a query`() throws {
        let request = RouteRequest("GET /books", query: "page=3&text=a%20b+c&empty=")
        #expect(try request.query("page", default: 1) == 3)
        #expect(try request.query("size", default: 20) == 20)
        #expect(try request.query("text") == "a b c")
        #expect(try request.query("empty") == "")
        #expect(try request.query("page", as: Int.self) == 3)
        #expect(try request.query("none", as: Int.self) == nil)
    }

    @Test(arguments: [
        ("page=x", "expected an integer, found `x`"), ("page=", "expected an integer, found ``"),
        ("page=1&page=2", "expected one value, found 2"),
    ])
    func `a field that is not of the type is a problem`(query: String, mistake: String) {
        let problem = problem { _ = try RouteRequest("GET /books", query: query).query("page", default: 1) }
        #expect(problem?.status == 400)
        #expect(problem?.fields == ["page": mistake])
    }

    @Test func `a query is decoded into a type`() throws {
        func search(_ query: String) throws -> Search { try RouteRequest("GET /", query: query).query(as: Search.self) }
        let whole = try search(
            "text=white+whale&tags=sea&tags=novel&page=2&order=year&since=1851-10-18T12:00:00Z&other=1")
        #expect(
            whole
                == Search(
                    text: "white whale", tags: ["sea", "novel"], page: 2, order: .year,
                    since: Date(timeIntervalSince1970: -3_730_190_400)))
        #expect(try search("text=") == Search(text: "", tags: []))
        #expect(try search("text=a&page=&order=") == Search(text: "a", tags: []))
        let fraction = try search("text=a&since=1970-01-01T00:00:01.5Z")
        #expect(fraction.since == Date(timeIntervalSince1970: 1.5))
    }

    @Test(arguments: [
        ("tags=a", "text", "missing"), ("text=a&text=b", "text", "expected one value, found 2"),
        ("text=a&page=1.5", "page", "expected an integer, found `1.5`"),
        ("text=a&since=2020", "since", "expected a date such as `1851-10-18T12:00:00Z`, found `2020`"),
    ])
    func `a query that does not suit the type is a problem that names the field`(
        query: String, field: String, mistake: String
    ) {
        let problem = problem { _ = try RouteRequest("GET /", query: query).query(as: Search.self) }
        #expect(problem?.status == 400)
        #expect(problem?.fields == [field: mistake])
        #expect(problem?.detail == "the field `\(field)` of the query: \(mistake)")
    }

    @Test func `elements, dictionaries and nested types`() throws {
        struct Numbers: Decodable {
            var numbers: [Int]
        }
        struct Outer: Decodable {
            var inner: Numbers
        }
        let element = problem { _ = try RouteRequest("GET /", query: "numbers=1&numbers=x").query(as: Numbers.self) }
        #expect(element?.fields == ["numbers/1": "expected an integer, found `x`"])
        #expect(try RouteRequest("GET /", query: "a=1&b=2").query(as: [String: Int].self) == ["a": 1, "b": 2])
        let nested = problem { _ = try RouteRequest("GET /", query: "inner=1").query(as: Outer.self) }
        #expect(nested?.fields == ["inner": "expected one value for each name"])
    }

    @Test func `a query that is not UTF-8 is a problem`() {
        let problem = problem { _ = try RouteRequest("GET /", query: "text=%ff").query("text", default: "") }
        #expect(problem?.status == 400)
    }

    @Test func `a query and a form have at most 1,000 fields`() throws {
        func text(_ count: Int) -> String { (1...count).map { "\($0)=x" }.joined(separator: "&") }
        let most = RouteRequest("POST /", query: text(1_000), body: Array(text(1_000).utf8))
        #expect(try most.query(as: [String: String].self).count == 1_000)
        #expect(try most.form(as: [String: String].self).count == 1_000)
        let query = problem { _ = try RouteRequest("GET /", query: text(1_001)).query("1", default: "") }
        #expect(query?.status == 400 && query?.detail == "the query has more than 1000 fields")
        let form = problem {
            _ = try RouteRequest("POST /", body: Array(text(1_001).utf8)).form(as: [String: String].self)
        }
        #expect(form?.status == 400 && form?.detail == "the form has more than 1000 fields")
    }

    // MARK: Bodies

    @Test func `a body is decoded from memory or from a file`() throws {
        let json =
            #"{"title":"Moby-Dick","pages":635,"authors":[{"name":"Melville","born":"1819-08-01T00:00:00.000Z"}]}"#
        let book = try RouteRequest("POST /books", body: Array(json.utf8)).body(as: Book.self)
        #expect(book.authors.first?.born == Date(timeIntervalSince1970: -4_746_816_000))
        let path = FileManager.default.temporaryDirectory.path + "/\(UUID()).json"
        try Data(json.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try RouteRequest("POST /books", file: path).body(as: Book.self).title == "Moby-Dick")
    }

    @Test(arguments: [
        ("{}", "title", "missing"), (#"{"title":1}"#, "title", "expected a string"),
        (#"{"title":null}"#, "title", "expected a string, found null"),
        (#"{"title":"a","pages":1,"authors":{}}"#, "authors", "expected an array"),
        (#"{"title":"a","pages":1,"authors":[{"born":1}]}"#, "authors/0/name", "missing"),
        (#"{"title":"a","pages":1,"authors":[{"name":"b","born":1}]}"#, "authors/0/born", "expected a string"),
    ])
    func `a mistake in a body is a problem that names the field by its path`(
        json: String, field: String, mistake: String
    ) {
        let problem = problem { _ = try RouteRequest("POST /", body: Array(json.utf8)).body(as: Book.self) }
        #expect(problem?.status == 400)
        #expect(problem?.fields == [field: mistake])
    }

    @Test(arguments: ["", "x", #"{"title":"#, #"{"title":"a","pages":1.5,"authors":[]}"#])
    func `a body that is not JSON is a problem`(json: String) {
        let problem = problem { _ = try RouteRequest("POST /", body: Array(json.utf8)).body(as: Book.self) }
        #expect(problem?.status == 400)
        #expect(problem?.detail?.hasPrefix("the body: expected JSON") == true)
    }

    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true), ("application/vnd.book+json", true),
        ("text/plain", false), ("application/x-www-form-urlencoded", false),
    ])
    func `a body of another media type is not decoded`(type: String, isDecoded: Bool) throws {
        let request = RouteRequest("POST /", headers: ["Content-Type": type], body: Array("[1]".utf8))
        if isDecoded {
            #expect(try request.body(as: [Int].self) == [1])
        } else {
            #expect(problem { _ = try request.body(as: [Int].self) }?.status == 415)
        }
    }

    @Test func `a form is decoded as a query is`() throws {
        let type: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded"]
        func form(_ text: String) throws -> Search {
            try RouteRequest("POST /", headers: type, body: Array(text.utf8)).form(as: Search.self)
        }
        #expect(try form("text=a%26b+c&tags=x") == Search(text: "a&b c", tags: ["x"]))
        #expect(problem { _ = try form("tags=x") }?.detail == "the field `text` of the form: missing")
        let bytes = RouteRequest("POST /", headers: type, body: [0x61, 0x3D, 0xFF])
        #expect(problem { _ = try bytes.form(as: Search.self) }?.status == 400)
        let json = RouteRequest("POST /", headers: ["Content-Type": "application/json"], body: Array("{}".utf8))
        #expect(problem { _ = try json.form(as: Search.self) }?.status == 415)
    }

    @Test func `a body is a stream`() async throws {
        let request = RouteRequest("POST /", body: [1, 2, 3])
        #expect(try await request.bodyStream.collect(upTo: 10) == [1, 2, 3])
        #expect(try await RouteRequest("GET /").bodyStream.collect(upTo: 10) == [])
    }

    // MARK: Fields

    @Test func `cookies are read as they are set`() throws {
        var response = RouteResponse.empty()
        response.setCookie("session", "a;b c", maxAge: .seconds(60), isSecure: true)
        response.setCookie("theme", "dark", path: "/books", isHTTPOnly: false, sameSite: .strict)
        let cookies = response.headers.values("Set-Cookie")
        #expect(
            cookies == [
                "session=a%3Bb%20c; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax",
                "theme=dark; Path=/books; SameSite=Strict",
            ])
        let sent = cookies.map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
        let request = RouteRequest("GET /", headers: ["Cookie": sent, "Cookie": "theme=light; empty=; none; raw=%zz"])
        #expect(request.cookies == ["session": "a;b c", "theme": "dark", "empty": "", "raw": "%zz"])
    }
}
